<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>Agree</name>
    <message>
        <source>%1: %2, as before</source>
        <extracomment>%1 is a name such as &quot;Ranks&quot;, %2 and %3 are numbers</extracomment>
        <translation>%1：%2，与之前相同</translation>
    </message>
    <message>
        <source>%1: %2 instead of %3</source>
        <translation>%1：%2，原为 %3</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>rank 数</translation>
    </message>
    <message>
        <source>Ranks for each sequence</source>
        <translation>每条序列的 rank 数</translation>
    </message>
    <message>
        <source>Rows a step</source>
        <translation>每步行数</translation>
    </message>
    <message>
        <source>Gradient accumulation</source>
        <translation>梯度累积</translation>
    </message>
    <message>
        <source>The losses stay the same as before.</source>
        <translation>loss 与原来的运行保持一致。</translation>
    </message>
    <message>
        <source>The losses are no longer the same as before.</source>
        <translation>loss 不再与原来的运行一致。</translation>
    </message>
    <message>
        <source>Go on with fewer nodes?</source>
        <translation>用更少的节点继续？</translation>
    </message>
    <message>
        <source>Not there any more:
%1

With the remaining nodes the run would continue as follows:</source>
        <extracomment>%1 is a list of nodes, each with the reason why it is gone</extracomment>
        <translation>已不可用：
%1

在剩余节点上，运行将以如下设置继续：</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Leave it</source>
        <translation>保持现状</translation>
    </message>
</context>
<context>
    <name>Alerts</name>
    <message>
        <source>The loss is not a number at step %1</source>
        <translation>第 %1 步的 loss 变为 NaN 或无穷</translation>
    </message>
    <message>
        <source>The loss jumped to %1 at step %2; usually it is %3</source>
        <extracomment>%1 is the loss, %2 the step, %3 the loss before</extracomment>
        <translation>第 %2 步的 loss 突升到 %1；通常为 %3</translation>
    </message>
    <message>
        <source>Nothing was heard for %1 after step %2; rank %3 is behind</source>
        <translation>第 %2 步之后 %1 没有任何消息；rank %3 落后</translation>
    </message>
    <message>
        <source>Nothing was heard for %1 after step %2</source>
        <translation>第 %2 步之后 %1 没有任何消息</translation>
    </message>
    <message>
        <source>The loss has not fallen for %1 steps: %2 at step %3</source>
        <translation>loss 已有 %1 步没有下降：第 %3 步为 %2</translation>
    </message>
    <message>
        <source>Rank %1 is slow at step %2: the others wait %3 of a step for it</source>
        <translation>第 %2 步时 rank %1 较慢：其他 rank 每步有 %3 的时间在等它</translation>
    </message>
    <message>
        <source>The loss is not a number</source>
        <translation>loss 变为 NaN 或无穷</translation>
    </message>
    <message>
        <source>The loss jumps</source>
        <translation>loss 突然升高</translation>
    </message>
    <message>
        <source>The run stalls</source>
        <translation>运行停滞</translation>
    </message>
    <message>
        <source>The loss no longer falls</source>
        <translation>loss 不再下降</translation>
    </message>
    <message>
        <source>A rank is slow</source>
        <translation>某个 rank 较慢</translation>
    </message>
    <message>
        <source>The run ended after step %1, before it was complete</source>
        <translation>运行在第 %1 步之后、完成之前结束</translation>
    </message>
    <message>
        <source>The run is complete: step %1 was its last</source>
        <translation>运行已完成：最后一步是第 %1 步</translation>
    </message>
    <message>
        <source>The run ends before it is complete</source>
        <translation>运行在完成之前结束</translation>
    </message>
    <message>
        <source>The run is complete</source>
        <translation>运行已完成</translation>
    </message>
</context>
<context>
    <name>AppWays</name>
    <message>
        <source>The run directory has to be on a file system that the nodes share.</source>
        <translation>运行目录必须位于各节点共享的文件系统上。</translation>
    </message>
    <message>
        <source>Press “Set up” on the Start page.</source>
        <translation>请在“开始”页按“安装”。</translation>
    </message>
    <message>
        <source>Press Resume in Monitor.</source>
        <translation>请在“监控”页按“恢复”。</translation>
    </message>
    <message>
        <source>On the Nodes page, Install LibTorch has that machine&apos;s pip bring it (a download of 2.8 GB), and Send LibTorch copies the part that is needed from here.</source>
        <translation>在“节点”页，“安装 LibTorch”由那台机器的 pip 获取（下载 2.8 GB），“发送 LibTorch”从此处复制所需部分。</translation>
    </message>
    <message>
        <source>Does that machine reach PyPI? On the Nodes page, Send LibTorch brings it from here.</source>
        <translation>那台机器能访问 PyPI 吗？“节点”页的“发送 LibTorch”可从此处发送。</translation>
    </message>
    <message>
        <source>On the Nodes page, Send LibTorch brings it from here.</source>
        <translation>“节点”页的“发送 LibTorch”可从此处发送。</translation>
    </message>
    <message>
        <source>Compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there; then press Check on the Nodes page, and trust it.</source>
        <translation>请与那里 `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` 的输出核对；然后在“节点”页按“检查”并信任它。</translation>
    </message>
    <message>
        <source>Launch it with more memory (mem=… under More), a shorter sequence_len, or more ranks.</source>
        <translation>请用更多内存启动（在“其他选项”中写 mem=…），或缩短 sequence_len，或增加 rank 数。</translation>
    </message>
    <message>
        <source>Leave it out with CUDA_VISIBLE_DEVICES, choose CPU as Device on the Plan page, or use a machine with a newer GPU.</source>
        <translation>请用 CUDA_VISIBLE_DEVICES 排除它，或在“计划”页将设备设为 CPU，或换用有较新 GPU 的机器。</translation>
    </message>
    <message>
        <source>Install NVIDIA driver %2 or newer there, or choose CPU as Device on the Plan page.</source>
        <translation>请在那里安装 NVIDIA 驱动 %2 或更新版本，或在“计划”页将设备设为 CPU。</translation>
    </message>
</context>
<context>
    <name>AttentionKernels</name>
    <message>
        <source>Ringmaster&apos;s block kernel</source>
        <translation>Ringmaster 的分块内核</translation>
    </message>
    <message>
        <source>LibTorch&apos;s memory-efficient kernel</source>
        <translation>LibTorch 的省内存内核</translation>
    </message>
    <message>
        <source>FlashAttention-2, dense</source>
        <translation>FlashAttention-2，稠密</translation>
    </message>
    <message>
        <source>FlashAttention-2, varlen</source>
        <translation>FlashAttention-2，变长</translation>
    </message>
    <message>
        <source>FlashAttention-2, backward in a fixed order</source>
        <translation>FlashAttention-2，固定顺序的反向</translation>
    </message>
    <message>
        <source>cuDNN or FlashAttention-2, dense</source>
        <translation>cuDNN 或 FlashAttention-2，稠密</translation>
    </message>
    <message>
        <source>all of the attention</source>
        <translation>全部注意力</translation>
    </message>
    <message>
        <source>rows that are one document without padding</source>
        <translation>只含一个文档且无填充的行</translation>
    </message>
    <message>
        <source>rows of several documents or with padding</source>
        <translation>含多个文档或有填充的行</translation>
    </message>
    <message>
        <source>rows of several documents or with padding, and hops that see several stretches of keys</source>
        <translation>含多个文档或有填充的行，以及能看到多段键的环步</translation>
    </message>
    <message>
        <source>layers with heads wider than 256</source>
        <translation>头维度大于 256 的层</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>float32: FlashAttention-2 and cuDNN take 16 bits alone</source>
        <translation>float32：FlashAttention-2 和 cuDNN 只接受 16 位</translation>
    </message>
    <message>
        <source>cuDNN is left out: rows hold several documents</source>
        <translation>不用 cuDNN：一行含多个文档</translation>
    </message>
    <message>
        <source>cuDNN is left out: the model attends in a sliding window</source>
        <translation>不用 cuDNN：模型使用滑动窗口</translation>
    </message>
    <message>
        <source>cuDNN is left out: it takes head dimensions up to 128 that are multiples of 8</source>
        <translation>不用 cuDNN：它只接受不超过 128 且为 8 的倍数的头维度</translation>
    </message>
    <message>
        <source>LibTorch&apos;s operations, in blocks of scores</source>
        <translation>LibTorch 的运算，按块计算分数</translation>
    </message>
    <message>
        <source>the ranks compute on the CPU</source>
        <translation>各 rank 在 CPU 上计算</translation>
    </message>
    <message>
        <source>bfloat16 by the processor&apos;s own products if it has them</source>
        <translation>处理器若有 bfloat16 乘法指令，则使用它</translation>
    </message>
    <message>
        <source>the faster of the two, by a measurement at the start</source>
        <translation>开始时实测，取较快者</translation>
    </message>
    <message>
        <source>on the run&apos;s own shapes; both compute the same</source>
        <translation>用本次运行自己的形状测量；两者结果相同</translation>
    </message>
    <message>
        <source>keeps documents apart</source>
        <translation>使各文档互不可见</translation>
    </message>
    <message>
        <source>documents and padding are segments of one launch</source>
        <translation>文档与填充是同一次启动中的分段</translation>
    </message>
    <message>
        <source>a repeated run gives the same bits</source>
        <translation>重复运行得到逐位相同的结果</translation>
    </message>
    <message>
        <source>heads and long documents get launches of their own where that fills the GPU; RINGMASTER_CUDA_DETERMINISTIC=1 asks for it</source>
        <translation>在能填满 GPU 时，注意力头和长文档会分开启动；由 RINGMASTER_CUDA_DETERMINISTIC=1 要求</translation>
    </message>
    <message>
        <source>FlashAttention-2 takes heads up to 256 wide</source>
        <translation>FlashAttention-2 只接受不超过 256 的头维度</translation>
    </message>
    <message>
        <source>the model caps its attention scores</source>
        <translation>模型限制注意力分数的大小</translation>
    </message>
    <message>
        <source>FlashAttention-2, cuDNN and the memory-efficient kernel are faster, but cannot do that</source>
        <translation>FlashAttention-2、cuDNN 和省内存内核更快，但做不到这一点</translation>
    </message>
</context>
<context>
    <name>Charts</name>
    <message>
        <source>steady</source>
        <translation>平稳</translation>
    </message>
    <message>
        <source>rising</source>
        <translation>上升</translation>
    </message>
    <message>
        <source>falling</source>
        <translation>下降</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <extracomment>describes a line of a chart to a screen reader: its name, last figure and trend (&quot;falling&quot;)</extracomment>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1: %2, %3</source>
        <translation>%1：%2，%3</translation>
    </message>
    <message>
        <source>No data yet.</source>
        <translation>还没有数据。</translation>
    </message>
    <message numerus="yes">
        <source>And %n more.</source>
        <translation>
            <numerusform>另有 %n 条曲线。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompareCurves</name>
    <message>
        <source>time in steps</source>
        <translation>各步累计时间</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
</context>
<context>
    <name>Failures</name>
    <message>
        <source>line %1: </source>
        <translation>第 %1 行：</translation>
    </message>
</context>
<context>
    <name>Figures</name>
    <message>
        <source>%1: %2</source>
        <extracomment>%1 is a name, such as a machine&apos;s, %2 is what is said of it</extracomment>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>ms</source>
        <extracomment>unit: milliseconds</extracomment>
        <translation>毫秒</translation>
    </message>
    <message>
        <source>s</source>
        <extracomment>unit: seconds</extracomment>
        <translation>秒</translation>
    </message>
    <message>
        <source>min</source>
        <extracomment>unit: minutes</extracomment>
        <translation>分钟</translation>
    </message>
    <message>
        <source>h</source>
        <extracomment>unit: hours</extracomment>
        <translation>小时</translation>
    </message>
    <message>
        <source>d</source>
        <extracomment>unit: days</extracomment>
        <translation>天</translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>the data were measured just now</extracomment>
        <translation>刚刚</translation>
    </message>
    <message>
        <source>%1 ago</source>
        <extracomment>time since something happened; %1 is &quot;12 s&quot; or &quot;3 min&quot;</extracomment>
        <translation>%1前</translation>
    </message>
    <message>
        <source>, </source>
        <extracomment>stands between the parts of a list such as &quot;2 cores, 23.5 GiB&quot;</extracomment>
        <translation>，</translation>
    </message>
    <message>
        <source>%1.</source>
        <extracomment>a sentence, with its full stop</extracomment>
        <translation>%1。</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <extracomment>progress: %1 is the last step, %2 the number of steps</extracomment>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>; </source>
        <extracomment>stands between clauses that have commas of their own</extracomment>
        <translation>；</translation>
    </message>
</context>
<context>
    <name>LaunchPreview</name>
    <message>
        <source>(made by launch or prepare)</source>
        <translation>（由启动或准备时创建）</translation>
    </message>
    <message>
        <source>which starts, with MASTER_PORT and the port&apos;s open socket added:</source>
        <translation>它会启动以下进程，并附加 MASTER_PORT 和该端口已打开的套接字：</translation>
    </message>
    <message>
        <source>the same, without an agent:</source>
        <translation>不使用守护进程的等效命令：</translation>
    </message>
    <message>
        <source>(mirrors that of the nodes)</source>
        <translation>（节点上目录的镜像）</translation>
    </message>
    <message>
        <source>run directory:</source>
        <translation>运行目录：</translation>
    </message>
    <message>
        <source>whose ranks tell NCCL:</source>
        <translation>其各个 rank 告诉 NCCL：</translation>
    </message>
    <message>
        <source>restarts after a failure: up to %1, by the program that launched the run, as long as it follows it; nodes that are lost are left out</source>
        <translation>失败后重新启动：最多 %1 次，由启动该运行的程序执行，前提是它仍在跟踪运行；丢失的节点会被排除</translation>
    </message>
    <message>
        <source>restarts after a failure: up to %1, by the program that launched the run, as long as it follows it</source>
        <translation>失败后重新启动：最多 %1 次，由启动该运行的程序执行，前提是它仍在跟踪运行</translation>
    </message>
</context>
<context>
    <name>LaunchRemarks</name>
    <message numerus="yes">
        <source>The plan is for %n GPU(s); this machine has none.</source>
        <translation>
            <numerusform>计划需要 %n 张 GPU，本机没有。</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose machines over SSH or Slurm, or set Ranks and Device on the Plan page.</source>
        <translation>请选择“SSH 机器”或“Slurm”，或在“计划”页设置 rank 数和设备。</translation>
    </message>
    <message>
        <source>The plan does not fit into the memory of its devices.</source>
        <translation>该计划超出设备显存。</translation>
    </message>
    <message>
        <source>%1 holds a model, which this run replaces when it is done.</source>
        <translation>%1 中已有一个模型，本次运行结束时会将其替换。</translation>
    </message>
    <message>
        <source>The name is taken: the run is called %1.</source>
        <translation>名称已被占用：运行将命名为 %1。</translation>
    </message>
    <message numerus="yes">
        <source>The plan is for %n GPU(s); this machine has %1.</source>
        <translation>
            <numerusform>计划需要 %n 张 GPU，本机有 %1 张。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LaunchSteps</name>
    <message>
        <source>Connect to the login node</source>
        <translation>连接登录节点</translation>
    </message>
    <message>
        <source>Connect to the nodes</source>
        <translation>连接各节点</translation>
    </message>
    <message>
        <source>Check the plan</source>
        <translation>检查计划</translation>
    </message>
    <message>
        <source>Prepare model and data</source>
        <translation>准备模型和数据</translation>
    </message>
    <message>
        <source>Send it to the cluster</source>
        <translation>发送到集群</translation>
    </message>
    <message>
        <source>Send it to the nodes</source>
        <translation>发送到各节点</translation>
    </message>
    <message>
        <source>Submit the job</source>
        <translation>提交作业</translation>
    </message>
    <message>
        <source>Start the ranks</source>
        <translation>启动各 rank</translation>
    </message>
    <message>
        <source>Wait in the queue</source>
        <translation>在队列中等待</translation>
    </message>
    <message>
        <source>Ranks meet</source>
        <translation>各 rank 会合</translation>
    </message>
    <message>
        <source>First step</source>
        <translation>完成第一步</translation>
    </message>
    <message>
        <source>It did not start.</source>
        <translation>未能启动。</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Add to the queue</source>
        <translation>加入队列</translation>
    </message>
    <message>
        <source>It was not queued.</source>
        <translation>未能加入队列。</translation>
    </message>
    <message>
        <source>Check the checkpoint</source>
        <translation>核对检查点</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Install PyTorch and the Hugging Face libraries (some GB)</source>
        <translation>安装 PyTorch 和 Hugging Face 的库（数 GB）</translation>
    </message>
    <message>
        <source>The example</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>Make the example</source>
        <translation>生成示例</translation>
    </message>
    <message>
        <source>Measure this machine</source>
        <translation>测量本机</translation>
    </message>
    <message>
        <source>It was not measured.</source>
        <translation>未能测量。</translation>
    </message>
    <message>
        <source>Measure matrix products, attention, memory and links</source>
        <translation>测量矩阵乘法、注意力、内存和链路</translation>
    </message>
</context>
<context>
    <name>Log</name>
    <message>
        <source>attempt %1 on %2, %3, Ringmaster %4, LibTorch %5</source>
        <translation>第 %1 次尝试，主机 %2，%3，Ringmaster %4，LibTorch %5</translation>
    </message>
    <message>
        <source>phase: %1</source>
        <translation>阶段：%1</translation>
    </message>
    <message>
        <source>evaluation after step %1: loss %2</source>
        <translation>第 %1 步后评估：loss %2</translation>
    </message>
    <message>
        <source>checkpoint of step %1 saved in %2</source>
        <translation>第 %1 步的检查点已保存，用时 %2</translation>
    </message>
    <message>
        <source>completed after step %1</source>
        <translation>第 %1 步后完成</translation>
    </message>
    <message>
        <source>stopped after step %1</source>
        <translation>第 %1 步后停止</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) written after step %1</source>
        <translation>
            <numerusform>步骤 %1 之后写出了 %n 个样本</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MachineWords</name>
    <message>
        <source>Devices</source>
        <translation>设备</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n 个核心</numerusform>
        </translation>
    </message>
    <message>
        <source>%1; the NVIDIA driver shows no GPU</source>
        <translation>%1；NVIDIA 驱动没有列出 GPU</translation>
    </message>
    <message>
        <source>Look at CUDA_VISIBLE_DEVICES and nvidia-smi.</source>
        <translation>请检查 CUDA_VISIBLE_DEVICES 和 nvidia-smi。</translation>
    </message>
    <message>
        <source>%1, no NVIDIA GPU</source>
        <translation>%1，没有 NVIDIA GPU</translation>
    </message>
    <message>
        <source>Plans for any number of GPUs, trains on the processor.</source>
        <translation>可为任意数量的 GPU 做规划，训练使用 CPU。</translation>
    </message>
    <message>
        <source>%1; driver %2</source>
        <translation>%1；驱动 %2</translation>
    </message>
    <message>
        <source>The free space cannot be read.</source>
        <translation>无法查询磁盘。</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>可用 %1</translation>
    </message>
    <message>
        <source>Little room: a run could fill the disk.</source>
        <translation>空间不多：一个运行就可能占满磁盘。</translation>
    </message>
    <message numerus="yes">
        <source>%n host(s) in ~/.ssh/config</source>
        <translation>
            <numerusform>~/.ssh/config 中有 %n 台主机</numerusform>
        </translation>
    </message>
    <message>
        <source>SSH</source>
        <translation>SSH</translation>
    </message>
    <message>
        <source>agent answers; %1</source>
        <translation>ssh-agent 有响应；%1</translation>
    </message>
    <message>
        <source>agent does not answer; %1</source>
        <translation>ssh-agent 没有响应；%1</translation>
    </message>
    <message>
        <source>Start it again: %1</source>
        <translation>请重新启动：%1</translation>
    </message>
    <message>
        <source>no agent; %1</source>
        <translation>没有 ssh-agent；%1</translation>
    </message>
    <message>
        <source>Needed for other machines only: %1</source>
        <translation>仅在使用其他机器时需要：%1</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>Install or build Ringmaster whole.</source>
        <translation>请完整安装或构建 Ringmaster。</translation>
    </message>
    <message>
        <source>CUDA</source>
        <translation>CUDA</translation>
    </message>
    <message>
        <source>the engine&apos;s CUDA part is there</source>
        <translation>引擎含 CUDA 部分</translation>
    </message>
    <message>
        <source>not in this build: GPUs stay unused</source>
        <translation>此构建不含 CUDA：不会使用 GPU</translation>
    </message>
    <message>
        <source>Build it again without RINGMASTER_CUDA=off.</source>
        <translation>去掉 RINGMASTER_CUDA=off 重新构建。</translation>
    </message>
    <message>
        <source>LibTorch</source>
        <translation>LibTorch</translation>
    </message>
    <message>
        <source>%1, set up</source>
        <translation>%1，已安装</translation>
    </message>
    <message>
        <source>%1 is not set up yet</source>
        <translation>%1 尚未安装</translation>
    </message>
    <message>
        <source>Planning works without it; training needs it (about 3 GB to load).</source>
        <translation>规划不需要它，训练需要（下载约 3 GB）。</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>%1 of %2 available</source>
        <translation>可用 %1，共 %2</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>缓存</translation>
    </message>
</context>
<context>
    <name>Monitor</name>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>global</source>
        <translation>全局</translation>
    </message>
    <message>
        <source>evaluation</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>未掩盖的通信</translation>
    </message>
    <message>
        <source>other</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>expected</source>
        <translation>估算</translation>
    </message>
    <message>
        <source>capacity</source>
        <translation>容量</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>每步时间</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>未掩盖的通信</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Ranks over time</source>
        <translation>各 rank 随时间的变化</translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation>吞吐量</translation>
    </message>
    <message>
        <source>Overlap</source>
        <translation>重叠率</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>global, and each rank&apos;s own</source>
        <translation>全局，以及各 rank 自己的</translation>
    </message>
    <message>
        <source>of rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>median of the ranks</source>
        <translation>各 rank 的中位数</translation>
    </message>
    <message>
        <source>waiting share of a step</source>
        <translation>各 rank 一步中等待的占比</translation>
    </message>
    <message>
        <source>tensors at the peak, of %1</source>
        <translation>张量峰值，设备显存 %1</translation>
    </message>
    <message>
        <source>tensors at the peak</source>
        <translation>张量峰值</translation>
    </message>
    <message>
        <source>own work against the median</source>
        <translation>自身工作时间，与中位数相比</translation>
    </message>
    <message>
        <source>tokens per second, all ranks</source>
        <translation>每秒 token 数，所有 rank</translation>
    </message>
    <message>
        <source>hidden share of communication</source>
        <translation>被计算掩盖的通信占比</translation>
    </message>
    <message>
        <source>before clipping</source>
        <translation>裁剪之前</translation>
    </message>
    <message>
        <source>tokens per second</source>
        <translation>每秒 token 数</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>reward</source>
        <translation>奖励</translation>
    </message>
    <message>
        <source>chosen</source>
        <translation>被选中</translation>
    </message>
    <message>
        <source>rejected</source>
        <translation>被拒绝</translation>
    </message>
    <message>
        <source>margin</source>
        <translation>差值</translation>
    </message>
    <message>
        <source>chosen above rejected</source>
        <translation>被选中者更高</translation>
    </message>
    <message>
        <source>clipped</source>
        <translation>被裁剪</translation>
    </message>
    <message>
        <source>cut at the longest length</source>
        <translation>在最大长度处截断</translation>
    </message>
    <message>
        <source>in a group of equal rewards</source>
        <translation>所在组奖励相同</translation>
    </message>
    <message>
        <source>mean length</source>
        <translation>平均长度</translation>
    </message>
    <message>
        <source>divergence</source>
        <translation>散度</translation>
    </message>
    <message>
        <source>NLL of the chosen</source>
        <translation>被选中者的 NLL</translation>
    </message>
    <message>
        <source>router loss</source>
        <translation>路由 loss</translation>
    </message>
    <message>
        <source>Rewards</source>
        <translation>奖励</translation>
    </message>
    <message>
        <source>Shares of the completions</source>
        <translation>回答占比</translation>
    </message>
    <message>
        <source>Completion length</source>
        <translation>回答长度</translation>
    </message>
    <message>
        <source>Divergence from the reference</source>
        <translation>与参考模型的 KL 散度</translation>
    </message>
    <message>
        <source>Parts of the loss</source>
        <translation>Loss 的组成</translation>
    </message>
    <message>
        <source>means over a step</source>
        <translation>每步平均</translation>
    </message>
    <message>
        <source>tokens of a sampled completion</source>
        <translation>采样回答的 token 数</translation>
    </message>
    <message>
        <source>checkpoint of step %1</source>
        <translation>第 %1 步的检查点</translation>
    </message>
    <message>
        <source>checkpoint</source>
        <extracomment>a legend&apos;s name of the moments at which a checkpoint was saved</extracomment>
        <translation>检查点</translation>
    </message>
    <message>
        <source>attempt %1, from step %2</source>
        <translation>第 %1 次尝试，从第 %2 步开始</translation>
    </message>
    <message>
        <source>attempt %1, from step %2, on %3 ranks in place of %4</source>
        <translation>第 %1 次尝试，从第 %2 步开始，rank 数由 %4 变为 %3</translation>
    </message>
    <message>
        <source>gap</source>
        <translation>差距</translation>
    </message>
    <message>
        <source>Gap to the sampling server</source>
        <translation>与采样服务器的差距</translation>
    </message>
    <message>
        <source>mean, in log-probability</source>
        <translation>对数概率的平均距离</translation>
    </message>
    <message numerus="yes">
        <source>median and range of %n ranks</source>
        <extracomment>name in a legend: median of %n ranks as a line, with the area between the least and the greatest</extracomment>
        <translation>
            <numerusform>%n 个 rank 的中位数与范围</numerusform>
        </translation>
    </message>
    <message>
        <source>alert</source>
        <extracomment>a legend&apos;s name of the moments at which an alert was raised</extracomment>
        <translation>警报</translation>
    </message>
    <message>
        <source>new attempt</source>
        <extracomment>a legend&apos;s name of the moments at which a run was resumed</extracomment>
        <translation>新的尝试</translation>
    </message>
</context>
<context>
    <name>NodeFindings</name>
    <message>
        <source>the host name %1 is not known here: %2</source>
        <translation>此处不认识主机名 %1：%2</translation>
    </message>
    <message>
        <source>check the spelling, or add a Host entry with its HostName to ~/.ssh/config</source>
        <translation>检查拼写，或在 ~/.ssh/config 中添加带 HostName 的 Host 条目</translation>
    </message>
    <message>
        <source>connection refused by %1 port %2</source>
        <translation>%1 的端口 %2 拒绝连接</translation>
    </message>
    <message>
        <source>is sshd running there, on port %2?</source>
        <translation>那里的 sshd 是否在端口 %2 上运行？</translation>
    </message>
    <message>
        <source>no answer from %1 port %2 in %3 s</source>
        <translation>%1 的端口 %2 在 %3 秒内没有应答</translation>
    </message>
    <message>
        <source>is the machine on, and does a firewall let port %2 through? A VPN may be needed</source>
        <translation>机器开着吗？防火墙放行端口 %2 吗？也可能需要 VPN</translation>
    </message>
    <message>
        <source>cannot reach %1 port %2: %3</source>
        <translation>无法到达 %1 的端口 %2：%3</translation>
    </message>
    <message>
        <source>no route leads there from this machine: is the network or the VPN up?</source>
        <translation>本机没有通往那里的路由：网络或 VPN 连上了吗？</translation>
    </message>
    <message>
        <source>no connection with %1 port %2: %3</source>
        <translation>与 %1 的端口 %2 没有连接：%3</translation>
    </message>
    <message>
        <source>`ssh -v %4` may say more</source>
        <translation>`ssh -v %4` 也许能说明更多</translation>
    </message>
    <message>
        <source>given up before %1 port %2 had answered</source>
        <translation>在 %1 的端口 %2 应答之前已放弃</translation>
    </message>
    <message>
        <source>check it again</source>
        <translation>请再检查一次</translation>
    </message>
    <message>
        <source>%1 port %2 answered, but not as SSH should: %3</source>
        <translation>%1 的端口 %2 有应答，但不像 SSH：%3</translation>
    </message>
    <message>
        <source>`ssh -v %4` shows the same exchange</source>
        <translation>`ssh -v %4` 显示同样的交互</translation>
    </message>
    <message>
        <source>the jump host %1 does not connect to %2 port %3: %4</source>
        <translation>跳板机 %1 无法连接 %2 的端口 %3：%4</translation>
    </message>
    <message>
        <source>is the machine on, and does the jump host&apos;s sshd allow forwarding (AllowTcpForwarding)?</source>
        <translation>机器开着吗？跳板机的 sshd 允许转发（AllowTcpForwarding）吗？</translation>
    </message>
    <message>
        <source>the connection is lost: %1</source>
        <translation>连接已断开：%1</translation>
    </message>
    <message>
        <source>shows no host key: %1</source>
        <translation>没有出示主机密钥：%1</translation>
    </message>
    <message>
        <source>its host key is not known: %1 %2</source>
        <translation>其主机密钥未知：%1 %2</translation>
    </message>
    <message>
        <source>compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there; then trust it (--trust-on-first-use): that adds it to %4</source>
        <translation>与那里 `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` 的输出核对；然后信任它（--trust-on-first-use）：它会被加入 %4</translation>
    </message>
    <message>
        <source>its host key has CHANGED: now it is %1 %2. Somebody may stand between, or the machine was set up anew; nothing was sent to it</source>
        <translation>其主机密钥已改变：现在是 %1 %2。可能有人从中拦截，也可能机器重新安装过；没有向它发送任何内容</translation>
    </message>
    <message>
        <source>ask whoever runs the machine. If the new key is right: ssh-keygen -f %3 -R &apos;%4&apos;</source>
        <translation>询问机器的管理者。如果新密钥无误：ssh-keygen -f %3 -R &apos;%4&apos;</translation>
    </message>
    <message>
        <source>is known by a host key of another type than it shows now (%1 %2). Somebody may stand between; nothing was sent to it</source>
        <translation>已知的主机密钥与它现在出示的（%1 %2）类型不同。可能有人从中拦截；没有向它发送任何内容</translation>
    </message>
    <message>
        <source>its host key is not known: %1 %2. StrictHostKeyChecking yes lets none be added</source>
        <translation>其主机密钥未知：%1 %2。StrictHostKeyChecking yes 不允许加入任何密钥</translation>
    </message>
    <message>
        <source>compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there, and add it to %4 yourself</source>
        <translation>与那台机器上 `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` 的输出核对，然后自行加入 %4</translation>
    </message>
    <message>
        <source>its host key is not known: %1 %2. UserKnownHostsFile none leaves no file to add it to</source>
        <translation>其主机密钥未知：%1 %2。UserKnownHostsFile none 使它无处可加</translation>
    </message>
    <message>
        <source>name a file in UserKnownHostsFile, or add the key to one of GlobalKnownHostsFile</source>
        <translation>在 UserKnownHostsFile 中指定一个文件，或把密钥加入 GlobalKnownHostsFile 的某个文件</translation>
    </message>
    <message>
        <source>its host key %1 %2 is REVOKED by %3. Somebody may have stolen it; nothing was sent to the machine</source>
        <translation>其主机密钥 %1 %2 已被 %3 吊销。它可能已被盗；没有向该机器发送任何内容</translation>
    </message>
    <message>
        <source>ask whoever runs the machine for its new host key</source>
        <translation>向管理该机器的人询问新的主机密钥</translation>
    </message>
    <message>
        <source>its address is known by another host key than %1 %2 (CheckHostIP, %3). Somebody may stand between; nothing was sent to it</source>
        <translation>其地址已知的主机密钥不是 %1 %2（CheckHostIP，%3）。可能有人从中拦截；没有向它发送任何内容</translation>
    </message>
    <message>
        <source>ask whoever runs the machine which key is right, and remove the wrong line</source>
        <translation>向管理该机器的人询问哪个密钥正确，并删除错误的那一行</translation>
    </message>
    <message>
        <source>its host key %1 %2 has %3 bits, fewer than RequiredRSASize asks for</source>
        <translation>其主机密钥 %1 %2 只有 %3 位，少于 RequiredRSASize 的要求</translation>
    </message>
    <message>
        <source>ask whoever runs the machine for a longer key, or for one of ed25519</source>
        <translation>请管理该机器的人换用更长的密钥或 ed25519 密钥</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not checked: KnownHostsCommand (%3) is not run here</source>
        <translation>未核对其主机密钥 %1 %2：这里不运行 KnownHostsCommand（%3）</translation>
    </message>
    <message>
        <source>write what the command prints to a file, and name that in UserKnownHostsFile instead</source>
        <translation>把该命令的输出写入文件，改用 UserKnownHostsFile 指定它</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not accepted: %3 revokes a key that cannot be read</source>
        <translation>不接受其主机密钥 %1 %2：%3 吊销了一个无法读取的密钥</translation>
    </message>
    <message>
        <source>mend that line, or remove it</source>
        <translation>修正或删除那一行</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not accepted: RevokedHostKeys names %3, a binary list (KRL), which is not read here</source>
        <translation>不接受其主机密钥 %1 %2：RevokedHostKeys 指定的 %3 是二进制列表（KRL），这里不读取</translation>
    </message>
    <message>
        <source>name a text file in RevokedHostKeys instead, one public key a line</source>
        <translation>在 RevokedHostKeys 中改用文本文件，每行一个公钥</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not accepted: it has a host certificate, which is not read here, and %3 may revoke the authority that signed it</source>
        <translation>不接受其主机密钥 %1 %2：它带有主机证书，这里不读取证书，而 %3 可能吊销了签发它的机构</translation>
    </message>
    <message>
        <source>name key types without certificates for it in ~/.ssh/config: HostKeyAlgorithms ssh-ed25519,rsa-sha2-512</source>
        <translation>在 ~/.ssh/config 中为它指定不含证书的密钥类型：HostKeyAlgorithms ssh-ed25519,rsa-sha2-512</translation>
    </message>
    <message>
        <source>HostKeyAlgorithms does not tell which of its host keys to ask for (host certificates are not read here): %1</source>
        <translation>HostKeyAlgorithms 未能确定应向它要求哪个主机密钥（这里不读取主机证书）：%1</translation>
    </message>
    <message>
        <source>name one key type for it in ~/.ssh/config, for instance HostKeyAlgorithms ssh-ed25519</source>
        <translation>在 ~/.ssh/config 中为它指定一种密钥类型，例如 HostKeyAlgorithms ssh-ed25519</translation>
    </message>
    <message>
        <source>. Not followed here, though ssh does: %1</source>
        <translation>。ssh 会遵循而这里不遵循：%1</translation>
    </message>
    <message>
        <source>its host key cannot be checked: %1</source>
        <translation>无法核对其主机密钥：%1</translation>
    </message>
    <message>
        <source>is %2 readable?</source>
        <translation>%2 可读吗？</translation>
    </message>
    <message>
        <source>its host key cannot be added to %1: %2</source>
        <translation>无法把其主机密钥加入 %1：%2</translation>
    </message>
    <message>
        <source>the login as %1 was not accepted. It takes %2; tried: </source>
        <translation>以 %1 登录未被接受。它接受 %2；已尝试：</translation>
    </message>
    <message>
        <source>`ssh %3` has to work without us; `ssh-copy-id` puts a key there</source>
        <translation>`ssh %3` 须能独立成功；`ssh-copy-id` 可放置密钥</translation>
    </message>
    <message>
        <source>the login as %1 was not accepted. It takes %2; nothing was there to try</source>
        <translation>以 %1 登录未被接受。它接受 %2；没有可尝试的方式</translation>
    </message>
    <message>
        <source>the password for the login as %1 was not accepted. It takes %2; tried: </source>
        <translation>以 %1 登录的密码未被接受。它接受 %2；已尝试：</translation>
    </message>
    <message>
        <source>is it the password of %1 on that machine? `ssh-copy-id %3` puts a key there, and none is asked for</source>
        <translation>这是 %1 在那台机器上的密码吗？`ssh-copy-id %3` 可放置密钥，之后不再询问密码</translation>
    </message>
    <message>
        <source>its questions were not answered as it wants for the login as %1. It takes %2; tried: </source>
        <translation>以 %1 登录时，对其提问的回答不被接受。它接受 %2；已尝试：</translation>
    </message>
    <message>
        <source>a code may have run out: check it again; `ssh %3` asks the same</source>
        <translation>验证码可能已过期：请再检查一次；`ssh %3` 会问同样的问题</translation>
    </message>
    <message>
        <source>the login as %1 has to be answered by a person. It takes %2; tried: </source>
        <translation>以 %1 登录需要人来回答。它接受 %2；已尝试：</translation>
    </message>
    <message>
        <source>run it in a terminal or use the app; or `ssh-copy-id %3` puts a key there, and nothing is asked</source>
        <translation>在终端中运行或使用本应用；或用 `ssh-copy-id %3` 放置密钥，之后不再询问</translation>
    </message>
    <message>
        <source>ended the login after %1 keys that it does not know (its MaxAuthTries); tried: </source>
        <translation>在 %1 个它不认识的密钥之后终止了登录（其 MaxAuthTries）；已尝试：</translation>
    </message>
    <message>
        <source>name the right key for this host in ~/.ssh/config: IdentityFile with IdentitiesOnly yes</source>
        <translation>在 ~/.ssh/config 中为此主机写明正确的密钥：IdentityFile 加 IdentitiesOnly yes</translation>
    </message>
    <message>
        <source>ended the login after too many wrong answers (its MaxAuthTries); tried: </source>
        <translation>错误回答过多，登录被终止（其 MaxAuthTries）；已尝试：</translation>
    </message>
    <message>
        <source>`ssh %1` has to work without us</source>
        <translation>`ssh %1` 须能独立成功</translation>
    </message>
    <message>
        <source>ended the login: %1; tried: </source>
        <translation>终止了登录：%1；已尝试：</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>1 key of the ssh-agent (not accepted)</source>
        <translation>ssh-agent 的 1 个密钥（未被接受）</translation>
    </message>
    <message>
        <source>%1 keys of the ssh-agent (not accepted)</source>
        <translation>ssh-agent 的 %1 个密钥（未被接受）</translation>
    </message>
    <message>
        <source>%1 (not accepted)</source>
        <translation>%1（未被接受）</translation>
    </message>
    <message>
        <source>%1 (only its public half is here)</source>
        <translation>%1（此处只有公钥部分）</translation>
    </message>
    <message>
        <source>%1 (cannot be read as a private key)</source>
        <translation>%1（无法作为私钥读取）</translation>
    </message>
    <message>
        <source>%1 (encrypted: load it with ssh-add, or give its passphrase)</source>
        <translation>%1（已加密：用 ssh-add 加载，或给出其口令）</translation>
    </message>
    <message>
        <source>keyboard-interactive (not accepted)</source>
        <translation>keyboard-interactive（未被接受）</translation>
    </message>
    <message>
        <source>keyboard-interactive (%1 times not accepted)</source>
        <translation>keyboard-interactive（%1 次未被接受）</translation>
    </message>
    <message>
        <source>keyboard-interactive (the server asks, and nobody is there to answer)</source>
        <translation>keyboard-interactive（服务器在询问，却无人回答）</translation>
    </message>
    <message>
        <source>password (not accepted)</source>
        <translation>密码（未被接受）</translation>
    </message>
    <message>
        <source>password (%1 times not accepted)</source>
        <translation>密码（%1 次未被接受）</translation>
    </message>
    <message>
        <source>password (nobody is there to give it)</source>
        <translation>密码（无人输入）</translation>
    </message>
    <message>
        <source>no channel for a command: %1</source>
        <translation>没有可用于命令的通道：%1</translation>
    </message>
    <message>
        <source>its sshd may allow too few sessions (MaxSessions)</source>
        <translation>其 sshd 允许的会话数可能太少（MaxSessions）</translation>
    </message>
    <message>
        <source>does not run commands: %1</source>
        <translation>不执行命令：%1</translation>
    </message>
    <message>
        <source>an account that may only transfer files cannot train</source>
        <translation>只能传文件的账户无法训练</translation>
    </message>
    <message>
        <source>the login shell ended before it ran anything%1</source>
        <translation>登录 shell 还没执行任何命令就结束了%1</translation>
    </message>
    <message>
        <source>`ssh %2 true` has to succeed: look at the shell&apos;s start files there</source>
        <translation>`ssh %2 true` 须能成功：请查看那里 shell 的启动文件</translation>
    </message>
    <message>
        <source>the login shell did not get to running anything in 30 s%1</source>
        <translation>登录 shell 在 30 秒内没能执行任何命令%1</translation>
    </message>
    <message>
        <source>its start files wait for something or start another program: keep that for interactive shells</source>
        <translation>其启动文件在等待什么，或启动了别的程序：请只留给交互式 shell</translation>
    </message>
    <message>
        <source>its shell did not answer our questions%1</source>
        <translation>其 shell 没有回答我们的问题%1</translation>
    </message>
    <message>
        <source>`sh` has to be a POSIX shell there</source>
        <translation>那里的 `sh` 须是 POSIX shell</translation>
    </message>
    <message>
        <source>has taken nothing for %1 s</source>
        <translation>已有 %1 秒没有接收任何内容</translation>
    </message>
    <message>
        <source>is a disk or network file system of the machine hanging?</source>
        <translation>机器的磁盘或网络文件系统卡住了吗？</translation>
    </message>
    <message>
        <source>sends more than is asked of it (over %1)</source>
        <translation>发送的内容超出了所要求的（超过 %1）</translation>
    </message>
    <message>
        <source>look at its shell&apos;s start-up files, and whether it is the machine that you mean</source>
        <translation>请检查它的 shell 启动文件，并确认它就是您要连接的机器</translation>
    </message>
    <message>
        <source>a command there has said nothing for %1 s</source>
        <translation>那里的一个命令已 %1 秒没有输出</translation>
    </message>
    <message>
        <source>%1 cores, %2 of %3 memory free, %4 disk free, no GPU</source>
        <translation>%1 个核心，内存可用 %2（共 %3），磁盘可用 %4，无 GPU</translation>
    </message>
    <message>
        <source>%5 × %6 (driver %7), %1 cores, %2 of %3 memory free, %4 disk free</source>
        <translation>%5 × %6（驱动 %7），%1 个核心，内存可用 %2（共 %3），磁盘可用 %4</translation>
    </message>
    <message>
        <source>runs %1; Ringmaster&apos;s engine is for Linux</source>
        <translation>运行的是 %1；Ringmaster 的引擎用于 Linux</translation>
    </message>
    <message>
        <source>choose another node</source>
        <translation>请选择别的节点</translation>
    </message>
    <message>
        <source>is a %1 machine; the engine here is built for %2</source>
        <translation>是 %1 机器；此处的引擎为 %2 构建</translation>
    </message>
    <message>
        <source>build Ringmaster on a %1 machine and launch from there</source>
        <translation>在 %1 机器上构建 Ringmaster 并从那里启动</translation>
    </message>
    <message>
        <source>has no glibc (its libc is another); the engine needs glibc %1</source>
        <translation>没有 glibc（用的是别的 libc）；引擎需要 glibc %1</translation>
    </message>
    <message>
        <source>choose a node with a glibc distribution</source>
        <translation>请选择使用 glibc 发行版的节点</translation>
    </message>
    <message>
        <source>has glibc %1, older than the %2 that the engine is built against</source>
        <translation>glibc 为 %1，早于构建引擎所用的 %2</translation>
    </message>
    <message>
        <source>build Ringmaster on a system as old as that node&apos;s, or choose another node</source>
        <translation>在与该节点同样旧的系统上构建 Ringmaster，或选择别的节点</translation>
    </message>
    <message>
        <source>its disk is full: nothing can be written in %1</source>
        <translation>其磁盘已满：无法写入 %1</translation>
    </message>
    <message>
        <source>make room there</source>
        <translation>请在那里腾出空间</translation>
    </message>
    <message>
        <source>has %2 free in %1; 1 GiB is the least</source>
        <translation>%1 中剩余 %2；至少需要 1 GiB</translation>
    </message>
    <message>
        <source>nothing can be written in %1: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>set XDG_DATA_HOME there to a folder that you may write in</source>
        <translation>在那里把 XDG_DATA_HOME 设为可写的文件夹</translation>
    </message>
    <message>
        <source>programs may not run in %1 (mounted noexec)</source>
        <translation>%1 中不允许运行程序（以 noexec 挂载）</translation>
    </message>
    <message>
        <source>set XDG_DATA_HOME there to a folder on a disk without noexec</source>
        <translation>在那里把 XDG_DATA_HOME 设到没有 noexec 的磁盘上</translation>
    </message>
    <message>
        <source>has no sha256sum</source>
        <translation>没有 sha256sum</translation>
    </message>
    <message>
        <source>install coreutils there</source>
        <translation>请在那里安装 coreutils</translation>
    </message>
    <message>
        <source>has no LibTorch %1</source>
        <translation>没有 LibTorch %1</translation>
    </message>
    <message>
        <source>--libtorch pip installs it there with that machine&apos;s pip (a download of 2.8 GB), --libtorch copy sends the part that is needed from here</source>
        <translation>--libtorch pip 用那台机器的 pip 安装（需下载 2.8 GB），--libtorch copy 从此处发送所需部分</translation>
    </message>
    <message>
        <source>has no LibTorch %1, and no Python that could install it</source>
        <translation>没有 LibTorch %1，也没有能安装它的 Python</translation>
    </message>
    <message>
        <source>--libtorch copy sends the part that is needed from here</source>
        <translation>--libtorch copy 从此处发送所需部分</translation>
    </message>
    <message>
        <source>has no LibTorch %1 (there is %2)</source>
        <translation>没有 LibTorch %1（有 %2）</translation>
    </message>
    <message>
        <source>its NVIDIA driver %1 is too old for CUDA %3: its GPUs cannot be used</source>
        <translation>NVIDIA 驱动 %1 对 CUDA %3 来说太旧：其 GPU 无法使用</translation>
    </message>
    <message>
        <source>install NVIDIA driver %2 or newer there, or train on its processors with --device cpu</source>
        <translation>在那里安装 NVIDIA 驱动 %2 或更新版本，或用 --device cpu 在处理器上训练</translation>
    </message>
    <message>
        <source>its GPU %1, %2, has compute capability %3, and the engine&apos;s kernels need %4 or newer</source>
        <translation>其 GPU %1（%2）的计算能力为 %3，而引擎的内核需要 %4 或更高</translation>
    </message>
    <message>
        <source>leave it out with CUDA_VISIBLE_DEVICES there, or train on its processors with --device cpu</source>
        <translation>在该机器上用 CUDA_VISIBLE_DEVICES 排除它，或用 --device cpu 在处理器上训练</translation>
    </message>
    <message>
        <source>GPU %1 is in use by %2 (%3)</source>
        <translation>GPU %1 正被 %2 使用（%3）</translation>
    </message>
    <message>
        <source>ask them, or leave it out with CUDA_VISIBLE_DEVICES</source>
        <translation>请与对方协商，或用 CUDA_VISIBLE_DEVICES 排除这张 GPU</translation>
    </message>
    <message>
        <source>its clock is %1 ahead</source>
        <translation>其时钟快 %1</translation>
    </message>
    <message>
        <source>set it (NTP): times of events will not agree</source>
        <translation>请校准（NTP）：否则事件时间对不上</translation>
    </message>
    <message>
        <source>its clock is %1 behind</source>
        <translation>其时钟慢 %1</translation>
    </message>
    <message>
        <source>its login shell prints text before every command (&quot;%1&quot;)</source>
        <translation>其登录 shell 在每个命令前输出文本（“%1”）</translation>
    </message>
    <message>
        <source>harmless here, though scp and sftp fail of it: keep that for interactive shells in its start files</source>
        <translation>在此无害，但 scp 和 sftp 会因此失败：请在启动文件中只留给交互式 shell</translation>
    </message>
    <message>
        <source>its Slurm has no partition</source>
        <translation>其 Slurm 没有分区</translation>
    </message>
    <message>
        <source>`sinfo` shows the same; ask whoever runs the cluster</source>
        <translation>`sinfo` 显示相同；请询问集群的管理者</translation>
    </message>
    <message>
        <source>none of its partitions is up</source>
        <translation>没有一个分区可用</translation>
    </message>
    <message>
        <source>takes jobs: %1</source>
        <translation>接受作业：%1</translation>
    </message>
    <message>
        <source>pip could not install LibTorch %1 there: %2</source>
        <translation>pip 无法在那里安装 LibTorch %1：%2</translation>
    </message>
    <message>
        <source>does that machine reach PyPI? --libtorch copy sends LibTorch from here</source>
        <translation>那台机器能访问 PyPI 吗？--libtorch copy 从此处发送 LibTorch</translation>
    </message>
    <message>
        <source>has %1 free in %2; LibTorch takes %3</source>
        <translation>%2 中剩余 %1；LibTorch 需要 %3</translation>
    </message>
    <message>
        <source>the engine does not run there: %1</source>
        <translation>引擎在那里无法运行：%1</translation>
    </message>
    <message>
        <source>LibTorch is taken from %2 there: is it whole?</source>
        <translation>那里的 LibTorch 取自 %2：它完整吗？</translation>
    </message>
    <message>
        <source>the engine fails its self-test there: %1</source>
        <translation>引擎在那里没有通过自检：%1</translation>
    </message>
    <message>
        <source>choose another node, and say so to whoever looks after this one</source>
        <translation>请选择别的节点，并告知此节点的维护者</translation>
    </message>
    <message>
        <source>its ranks do not reach those of %1: %2</source>
        <translation>其 rank 无法到达 %1 的 rank：%2</translation>
    </message>
    <message>
        <source>does a firewall let all TCP ports through between %3 and %4?</source>
        <translation>防火墙是否放行 %3 与 %4 之间的全部 TCP 端口？</translation>
    </message>
    <message>
        <source>more than %1 jump hosts, or one that jumps through itself</source>
        <translation>跳板机多于 %1 台，或有一台经由自身跳转</translation>
    </message>
    <message>
        <source>see ProxyJump in ~/.ssh/config</source>
        <translation>参见 ~/.ssh/config 中的 ProxyJump</translation>
    </message>
    <message>
        <source>ssh does not understand its configuration: %1</source>
        <translation>ssh 无法理解其配置：%1</translation>
    </message>
    <message>
        <source>`ssh -G %2` shows the same</source>
        <translation>`ssh -G %2` 显示相同</translation>
    </message>
    <message>
        <source>no network interface of it leads to rank 0&apos;s node, %1 (%2)</source>
        <translation>它没有通往 rank 0 节点 %1（%2）的网络接口</translation>
    </message>
    <message>
        <source>are the two on one network? Name first a node that all the others reach</source>
        <translation>两者在同一网络吗？请把其他节点都能到达的节点放在第一个</translation>
    </message>
    <message>
        <source>`ringmaster setup` installs it</source>
        <translation>用 `ringmaster setup` 安装</translation>
    </message>
</context>
<context>
    <name>NodeWords</name>
    <message>
        <source>in use by %1 (%2)</source>
        <extracomment>processes on a GPU: %1 are names of people, %2 a size of memory</extracomment>
        <translation>%1 正在使用（%2）</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n node(s) idle</source>
        <translation>
            <numerusform>%n 个节点中 %1 个空闲</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <extracomment>processor cores of a node of Slurm</extracomment>
        <translation>
            <numerusform>%n 个核心</numerusform>
        </translation>
    </message>
    <message>
        <source>at most %1</source>
        <extracomment>%1 is Slurm&apos;s time limit, such as 2-00:00:00</extracomment>
        <translation>最长 %1</translation>
    </message>
    <message>
        <source>down</source>
        <extracomment>state of a partition of Slurm</extracomment>
        <translation>停用</translation>
    </message>
    <message>
        <source>Host name</source>
        <translation>主机名</translation>
    </message>
    <message>
        <source>System</source>
        <translation>系统</translation>
    </message>
    <message>
        <source>Cores</source>
        <translation>核心</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>%1 of %2 free</source>
        <translation>可用 %1，共 %2</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>NVIDIA driver</source>
        <translation>NVIDIA 驱动</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>Files go to</source>
        <extracomment>a folder and its free space</extracomment>
        <translation>文件存放于</translation>
    </message>
    <message>
        <source>%1, %2 free</source>
        <translation>%1，可用 %2</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Clock</source>
        <translation>时钟</translation>
    </message>
    <message>
        <source>%1 ahead</source>
        <translation>快 %1</translation>
    </message>
    <message>
        <source>%1 behind</source>
        <translation>慢 %1</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>Slurm here</source>
        <extracomment>jobs are submitted with the commands of this machine</extracomment>
        <translation>本机 Slurm</translation>
    </message>
    <message>
        <source>Slurm through %1</source>
        <extracomment>%1 is a login node</extracomment>
        <translation>通过 %1 的 Slurm</translation>
    </message>
    <message>
        <source>checking</source>
        <extracomment>state of a node</extracomment>
        <translation>检查中</translation>
    </message>
    <message>
        <source>waiting</source>
        <extracomment>state of a node: its check has not begun</extracomment>
        <translation>等待中</translation>
    </message>
    <message>
        <source>not checked</source>
        <extracomment>state of a node</extracomment>
        <translation>未检查</translation>
    </message>
    <message>
        <source>ready</source>
        <extracomment>state of a node: it can train</extracomment>
        <translation>就绪</translation>
    </message>
    <message>
        <source>ready, with a remark</source>
        <extracomment>state of a node: it can train, and there is a remark</extracomment>
        <translation>就绪，有提示</translation>
    </message>
    <message>
        <source>cannot train</source>
        <extracomment>state of a node: it was reached but cannot train</extracomment>
        <translation>无法训练</translation>
    </message>
    <message>
        <source>not reached</source>
        <extracomment>state of a node</extracomment>
        <translation>无法连接</translation>
    </message>
    <message>
        <source>Connecting, logging in, asking the machine…</source>
        <translation>正在连接、登录、询问机器…</translation>
    </message>
    <message>
        <source>Eight are checked at a time.</source>
        <translation>每次同时检查八个。</translation>
    </message>
    <message>
        <source>Of ~/.ssh/config, without effect here</source>
        <translation>~/.ssh/config 中在此无效的项</translation>
    </message>
    <message>
        <source>Bringing the engine there: %1 of %2</source>
        <extracomment>progress of copying the programs: %1 and %2 are sizes</extracomment>
        <translation>正在发送引擎：%1 / %2</translation>
    </message>
    <message>
        <source>Measuring the links between the machines: %1 of %2</source>
        <translation>正在测量机器间的链路：%1 / %2</translation>
    </message>
    <message>
        <source>Trying it out: self-test, then the links with the others…</source>
        <translation>试运行中：先自检，再测与其他机器的链路…</translation>
    </message>
    <message>
        <source>Its pip installs LibTorch…</source>
        <translation>其 pip 正在安装 LibTorch…</translation>
    </message>
    <message>
        <source>Its pip installs LibTorch: %1 so far</source>
        <extracomment>%1 is the size downloaded so far</extracomment>
        <translation>其 pip 正在安装 LibTorch：已有 %1</translation>
    </message>
    <message>
        <source>Looking at what LibTorch needs…</source>
        <translation>正在查看 LibTorch 所需文件…</translation>
    </message>
    <message>
        <source>Sending LibTorch: %1 of %2</source>
        <extracomment>progress of copying: %1 and %2 are sizes</extracomment>
        <translation>正在发送 LibTorch：%1 / %2</translation>
    </message>
    <message>
        <source>none: %1</source>
        <translation>无：%1</translation>
    </message>
    <message>
        <source>%1 each way at once, %2 µs</source>
        <extracomment>a link between two machines: %1 is a rate, %2 a number of microseconds</extracomment>
        <translation>双向同时各 %1，%2 µs</translation>
    </message>
    <message>
        <source>Self-test</source>
        <translation>自检</translation>
    </message>
    <message>
        <source>passed in %1 with LibTorch %2, %3</source>
        <extracomment>a self-test: %1 is a duration, %2 a version, %3 how long ago</extracomment>
        <translation>用 LibTorch %2 在 %1 内通过，%3</translation>
    </message>
    <message>
        <source>Interface to %1</source>
        <extracomment>%1 is a machine</extracomment>
        <translation>通往 %1 的接口</translation>
    </message>
    <message>
        <source>Link with %1</source>
        <extracomment>%1 is a machine</extracomment>
        <translation>与 %1 的链路</translation>
    </message>
    <message>
        <source>at least %1 RAM per node</source>
        <extracomment>main memory of the nodes of a cluster: %1 is a size</extracomment>
        <translation>每节点内存至少 %1</translation>
    </message>
    <message>
        <source>%1 per GPU</source>
        <extracomment>memory of a machine&apos;s GPUs: %1 is a size</extracomment>
        <translation>每张 GPU %1</translation>
    </message>
    <message>
        <source>%1 of %2 RAM free</source>
        <extracomment>a machine&apos;s main memory: %1 and %2 are sizes</extracomment>
        <translation>内存可用 %1，共 %2</translation>
    </message>
</context>
<context>
    <name>PlanVerdict</name>
    <message>
        <source>%1 of %2 on the fullest rank</source>
        <translation>占用最多的 rank 为 %1（设备 %2）</translation>
    </message>
    <message>
        <source>%1 exposed communication</source>
        <translation>未掩盖的通信 %1</translation>
    </message>
    <message>
        <source>%1 waiting for offloaded data</source>
        <translation>等待卸载数据 %1</translation>
    </message>
    <message>
        <source>about %1 in all</source>
        <translation>共约 %1</translation>
    </message>
    <message>
        <source>INVALID</source>
        <translation>无效</translation>
    </message>
    <message numerus="yes">
        <source>%n problem(s) before it can launch.</source>
        <translation>
            <numerusform>启动前需解决 %n 个问题。</numerusform>
        </translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation>第 %1 行：%2</translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation>
            <numerusform>%n 张 GPU</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n CPU rank(s)</source>
        <translation>
            <numerusform>%n 个 CPU rank</numerusform>
        </translation>
    </message>
    <message>
        <source>no splitting</source>
        <translation>不切分</translation>
    </message>
    <message>
        <source>FITS</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>TIGHT</source>
        <translation>紧张</translation>
    </message>
    <message>
        <source>WILL NOT FIT</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>UNKNOWN</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>This machine is still being asked.</source>
        <translation>正在检测本机。</translation>
    </message>
    <message>
        <source>Memory and time are not known.</source>
        <translation>显存和时间未知。</translation>
    </message>
    <message>
        <source>as the file stands</source>
        <translation>即当前文本</translation>
    </message>
    <message>
        <source>fits where the present plan does not</source>
        <translation>放得下，而当前计划放不下</translation>
    </message>
    <message>
        <source>layers are computed again in the backward: less memory</source>
        <translation>反向中重新计算各层：显存更少</translation>
    </message>
    <message>
        <source>activations are kept: nothing is computed twice</source>
        <translation>保留激活：不做重复计算</translation>
    </message>
    <message>
        <source>MLPs go in tiles of tokens: less memory</source>
        <translation>MLP 按 token 分块计算：占用显存更少</translation>
    </message>
    <message>
        <source>MLPs are computed whole: nothing of them twice</source>
        <translation>MLP 整体计算：不重复计算</translation>
    </message>
    <message numerus="yes">
        <source>states are shared by %n rank(s) (ZeRO %1): less memory</source>
        <translation>
            <numerusform>%n 个 rank 分片存放状态（ZeRO %1）：占用显存更少</numerusform>
        </translation>
    </message>
    <message>
        <source>every rank holds all states: nothing is gathered</source>
        <translation>每个 rank 持有全部状态：无需收集</translation>
    </message>
    <message>
        <source>every rank holds all weights: they are gathered once a step</source>
        <translation>每个 rank 持有全部权重：每步只收集一次</translation>
    </message>
    <message>
        <source>every rank has the same attention work</source>
        <translation>各 rank 的注意力计算量相同</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence instead of %1: less is exchanged</source>
        <translation>
            <numerusform>共享一条序列的 rank 由 %1 个减为 %n 个：交换更少</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence: %1 tokens on each</source>
        <translation>
            <numerusform>%n 个 rank 共享一条序列：每个 rank %1 个 token</numerusform>
        </translation>
    </message>
    <message>
        <source>the global batch becomes %1</source>
        <translation>全局批大小变为 %1</translation>
    </message>
    <message>
        <source>keys and values go round one ring, heads are not split</source>
        <translation>K、V 沿一个环传递，不切分注意力头</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) split the heads by all-to-all: fewer hops in a ring</source>
        <translation>
            <numerusform>%n 个 rank 用 all-to-all 按头切分：环的跳数更少</numerusform>
        </translation>
    </message>
    <message>
        <source>another layout or micro-batch</source>
        <translation>布局或微批次不同</translation>
    </message>
    <message>
        <source>attention&apos;s output is kept: only the rest of a layer is computed again</source>
        <translation>保留注意力的输出：只重新计算层的其余部分</translation>
    </message>
    <message>
        <source>attention is computed again too: less memory</source>
        <translation>注意力也重新计算：占用更少内存</translation>
    </message>
    <message>
        <source>activations wait in host memory: less of the device&apos;s</source>
        <translation>激活值暂存于主机内存：占用更少设备内存</translation>
    </message>
    <message>
        <source>activations stay on the device: nothing is copied</source>
        <translation>激活留在设备上：无需复制</translation>
    </message>
    <message>
        <source>One step takes %1: use more GPUs, a smaller model or a shorter sequence.</source>
        <translation>每一步需要 %1：请使用更多 GPU、更小的模型或更短的序列。</translation>
    </message>
    <message>
        <source>data parallel %1</source>
        <translation>数据并行 %1</translation>
    </message>
    <message>
        <source>ring %1</source>
        <extracomment>ranks of a mesh that pass keys and values round</extracomment>
        <translation>环 %1</translation>
    </message>
    <message>
        <source>ulysses %1</source>
        <extracomment>ranks of a mesh that split the heads; Ulysses is a name</extracomment>
        <translation>Ulysses %1</translation>
    </message>
    <message>
        <source>expert %1</source>
        <extracomment>ranks of a mesh that share the experts of a layer</extracomment>
        <translation>专家并行 %1</translation>
    </message>
</context>
<context>
    <name>Progress</name>
    <message>
        <source>computing the reference</source>
        <translation>计算参考模型</translation>
    </message>
    <message>
        <source>waiting for files of rollouts</source>
        <translation>等待 rollout 文件</translation>
    </message>
    <message>
        <source>the ranks meet</source>
        <translation>各 rank 会合</translation>
    </message>
    <message>
        <source>loading the model</source>
        <translation>加载模型</translation>
    </message>
    <message>
        <source>tokenizing</source>
        <translation>分词</translation>
    </message>
    <message>
        <source>proving the mesh</source>
        <translation>验证网格</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>saving the final model</source>
        <translation>保存最终模型</translation>
    </message>
    <message>
        <source>loading the tokenizer</source>
        <translation>正在加载分词器</translation>
    </message>
    <message>
        <source>resizing the embeddings</source>
        <translation>正在调整嵌入大小</translation>
    </message>
    <message>
        <source>reading %1</source>
        <translation>正在读取 %1</translation>
    </message>
    <message>
        <source>hashing %1</source>
        <translation>正在计算 %1 的校验和</translation>
    </message>
    <message>
        <source>fetching %1</source>
        <translation>正在获取 %1</translation>
    </message>
    <message>
        <source>verifying the checkpoint</source>
        <translation>正在校验检查点</translation>
    </message>
    <message>
        <source>making the example</source>
        <translation>正在创建示例</translation>
    </message>
    <message>
        <source>making the Python environment</source>
        <translation>正在创建 Python 环境</translation>
    </message>
    <message>
        <source>waiting for another set-up to finish</source>
        <translation>正在等待另一个安装完成</translation>
    </message>
    <message>
        <source>looking for the packages</source>
        <translation>正在查找软件包</translation>
    </message>
    <message>
        <source>downloading %1</source>
        <translation>正在下载 %1</translation>
    </message>
    <message>
        <source>unpacking the packages</source>
        <translation>正在解压软件包</translation>
    </message>
    <message>
        <source>connecting to the nodes</source>
        <translation>正在连接节点</translation>
    </message>
    <message>
        <source>connecting to %1</source>
        <translation>正在连接 %1</translation>
    </message>
    <message>
        <source>sending to %1</source>
        <translation>正在发送到 %1</translation>
    </message>
    <message>
        <source>installing LibTorch on %1</source>
        <translation>正在 %1 上安装 LibTorch</translation>
    </message>
    <message>
        <source>looking at what is on %1</source>
        <translation>正在查看 %1 上的内容</translation>
    </message>
    <message>
        <source>waiting for the end of Slurm job %1</source>
        <translation>正在等待 Slurm 作业 %1 结束</translation>
    </message>
    <message>
        <source>waiting for %1</source>
        <translation>正在等待 %1</translation>
    </message>
    <message>
        <source>self-test</source>
        <translation>自检</translation>
    </message>
    <message>
        <source>measuring links</source>
        <translation>正在测量链路</translation>
    </message>
    <message>
        <source>measuring: %1</source>
        <translation>正在测量：%1</translation>
    </message>
    <message>
        <source>%1, %2 of %3</source>
        <extracomment>%1 is what a run does now, %2 how much of it is done, or for how long it waits; %3 the whole, or the longest time</extracomment>
        <translation>%1，%2/%3</translation>
    </message>
    <message>
        <source>preparing the upload</source>
        <translation>准备上传</translation>
    </message>
    <message>
        <source>uploading to %1</source>
        <translation>上传到 %1</translation>
    </message>
    <message>
        <source>converting to GGUF</source>
        <translation>转换为 GGUF</translation>
    </message>
    <message>
        <source>writing the rows</source>
        <translation>正在写入数据行</translation>
    </message>
    <message>
        <source>writing the evaluation rows</source>
        <translation>正在写入评估数据行</translation>
    </message>
    <message>
        <source>sending to %1 nodes</source>
        <translation>正在发送到 %1 台机器</translation>
    </message>
    <message>
        <source>waiting for the end of a step</source>
        <translation>正在等待当前步结束</translation>
    </message>
</context>
<context>
    <name>QShortcut</name>
    <message>
        <source>Ctrl</source>
        <translation>Ctrl</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>Shift</translation>
    </message>
    <message>
        <source>Return</source>
        <translation>Return</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Del</translation>
    </message>
</context>
<context>
    <name>RunMarks</name>
    <message>
        <source>waiting</source>
        <extracomment>state of a run</extracomment>
        <translation>排队中</translation>
    </message>
    <message>
        <source>preparing</source>
        <extracomment>state of a run</extracomment>
        <translation>准备中</translation>
    </message>
    <message>
        <source>running</source>
        <extracomment>state of a run</extracomment>
        <translation>运行中</translation>
    </message>
    <message>
        <source>stopping</source>
        <extracomment>state of a run</extracomment>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>completed</source>
        <extracomment>state of a run</extracomment>
        <translation>已完成</translation>
    </message>
    <message>
        <source>stopped</source>
        <extracomment>state of a run</extracomment>
        <translation>已停止</translation>
    </message>
    <message>
        <source>failed</source>
        <extracomment>state of a run</extracomment>
        <translation>已失败</translation>
    </message>
    <message>
        <source>damaged</source>
        <extracomment>state of a run</extracomment>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>incomplete</source>
        <extracomment>state of a run</extracomment>
        <translation>不完整</translation>
    </message>
    <message>
        <source>Its events end at step %1, before the last.</source>
        <translation>其事件止于第 %1 步，未到最后一步。</translation>
    </message>
</context>
<context>
    <name>RunReasons</name>
    <message>
        <source>)</source>
        <translation>）</translation>
    </message>
    <message>
        <source>
rank %1 has not ended yet: the system does not let it</source>
        <translation>
rank %1 尚未结束：系统不允许</translation>
    </message>
    <message>
        <source>; transfer %1 of %2)</source>
        <translation>；%2 的第 %1 次传输）</translation>
    </message>
    <message>
        <source> (saving after step %1</source>
        <translation>（第 %1 步后保存</translation>
    </message>
    <message>
        <source> (forward of the evaluation after step %1</source>
        <translation>（第 %1 步后评估的前向</translation>
    </message>
    <message>
        <source> (the evaluation after step %1</source>
        <translation>（第 %1 步后的评估</translation>
    </message>
    <message>
        <source> (backward of step %1, micro-batch %2</source>
        <translation>（第 %1 步反向，微批次 %2</translation>
    </message>
    <message>
        <source> (forward of step %1, micro-batch %2</source>
        <translation>（第 %1 步前向，微批次 %2</translation>
    </message>
    <message>
        <source> (step %1</source>
        <translation>（第 %1 步</translation>
    </message>
    <message>
        <source> (preflight</source>
        <translation>（预检</translation>
    </message>
    <message>
        <source> (starting</source>
        <translation>（启动中</translation>
    </message>
    <message>
        <source>, for the %1 of all %2 ranks of %3</source>
        <translation>，等待 %3 的全部 %2 个 rank 完成 %1</translation>
    </message>
    <message>
        <source>, for rank %1 to take %2</source>
        <translation>，等待 rank %1 接收 %2</translation>
    </message>
    <message>
        <source>, for rank %1 to send %2</source>
        <translation>，等待 rank %1 发送 %2</translation>
    </message>
    <message>
        <source> after layer %1, hop %2</source>
        <translation> 在第 %1 层第 %2 跳之后</translation>
    </message>
    <message>
        <source> after layer %1</source>
        <translation> 在第 %1 层之后</translation>
    </message>
    <message>
        <source> in layer %1, hop %2</source>
        <translation> 在第 %1 层第 %2 跳</translation>
    </message>
    <message>
        <source> in layer %1</source>
        <translation> 在第 %1 层</translation>
    </message>
    <message>
        <source> before the first layer</source>
        <translation> 在第一层之前</translation>
    </message>
    <message>
        <source> is at work</source>
        <translation> 正在计算</translation>
    </message>
    <message>
        <source> waits</source>
        <translation> 正在等待</translation>
    </message>
    <message>
        <source> is stopped; it</source>
        <translation> 已被暂停；它</translation>
    </message>
    <message>
        <source>: it</source>
        <translation>：它</translation>
    </message>
    <message>
        <source>rank %1 was stopped by %2 and not continued for %3 s</source>
        <translation>rank %1 被 %2 暂停，%3 秒内没有继续</translation>
    </message>
    <message>
        <source>
  rank %1</source>
        <translation>
  rank %1</translation>
    </message>
    <message>
        <source>; rank %1</source>
        <translation>；rank %1</translation>
    </message>
    <message>
        <source>completed after step %1</source>
        <translation>在第 %1 步后完成</translation>
    </message>
    <message>
        <source>preflight passed</source>
        <translation>预检通过</translation>
    </message>
    <message>
        <source>stopped by request before the first step</source>
        <translation>应请求在第一步之前停止</translation>
    </message>
    <message>
        <source>stopped by request after step %1</source>
        <translation>应请求在第 %1 步后停止</translation>
    </message>
    <message>
        <source>stopped at once by request before the first step</source>
        <translation>应请求立即停止，在第一步之前</translation>
    </message>
    <message>
        <source>stopped at once by request after step %1</source>
        <translation>应请求立即停止，在第 %1 步之后</translation>
    </message>
    <message>
        <source>stopped at once by request, nothing was saved</source>
        <translation>应请求立即停止，什么也没有保存</translation>
    </message>
    <message>
        <source>stopped by request</source>
        <translation>应请求停止</translation>
    </message>
    <message>
        <source>interrupted before it started</source>
        <translation>在启动之前中断</translation>
    </message>
    <message>
        <source>saved after step %1, its time was nearly over: waits to be started again</source>
        <translation>时间将尽，已在第 %1 步后保存：等待再次启动</translation>
    </message>
    <message>
        <source>: the model is in %1</source>
        <translation>：模型在 %1 中</translation>
    </message>
    <message>
        <source>: the adapter is in %1</source>
        <translation>：适配器在 %1 中</translation>
    </message>
    <message>
        <source>, which is saved</source>
        <translation>，该步已保存</translation>
    </message>
    <message>
        <source>, which was not saved</source>
        <translation>，该步未保存</translation>
    </message>
    <message>
        <source>; saved in %1</source>
        <translation>；保存在 %1</translation>
    </message>
    <message>
        <source>: saved in %1</source>
        <translation>：保存在 %1</translation>
    </message>
    <message>
        <source>; the last checkpoint is of step %1</source>
        <translation>；最后的检查点是第 %1 步的</translation>
    </message>
    <message>
        <source>; no checkpoint was saved</source>
        <translation>；没有保存检查点</translation>
    </message>
    <message>
        <source>; the newest checkpoint is of step %1</source>
        <translation>；最新的检查点是第 %1 步的</translation>
    </message>
    <message>
        <source>; nothing was saved</source>
        <translation>；什么也没有保存</translation>
    </message>
    <message>
        <source>rank %1 was killed by signal %2 (%3)</source>
        <translation>rank %1 被信号 %2（%3）终止</translation>
    </message>
    <message>
        <source>rank %1 ended with exit status %2</source>
        <translation>rank %1 以退出状态 %2 结束</translation>
    </message>
    <message>
        <source>: out of memory</source>
        <translation>：内存不足</translation>
    </message>
    <message>
        <source>: %1</source>
        <translation>：%1</translation>
    </message>
    <message>
        <source>; the disk of the run directory is full</source>
        <translation>；运行目录所在的磁盘已满</translation>
    </message>
    <message>
        <source>every rank ended with exit status 0, but rank 0 did not report that training is done</source>
        <translation>所有 rank 都以退出状态 0 结束，但 rank 0 没有报告训练已完成</translation>
    </message>
    <message>
        <source>; the end of its log:%1</source>
        <translation>；其日志的结尾：%1</translation>
    </message>
    <message>
        <source>started again after: %1</source>
        <translation>因此重新启动：%1</translation>
    </message>
    <message>
        <source>its supervisor (pid %1 on host %2) is gone</source>
        <translation>其守护进程（主机 %2 上的 PID %1）已不存在</translation>
    </message>
    <message>
        <source>: the machine was restarted</source>
        <translation>：机器已重新启动</translation>
    </message>
    <message>
        <source>Slurm job %1 reached its time limit</source>
        <translation>Slurm 作业 %1 达到了时间上限</translation>
    </message>
    <message>
        <source>
`ringmaster resume RUN --slurm time=…` goes on with more time</source>
        <translation>
`ringmaster resume RUN --slurm time=…` 以更长的时间继续</translation>
    </message>
    <message>
        <source>Slurm job %1 ran out of the memory that Slurm gave it</source>
        <translation>Slurm 作业 %1 用完了 Slurm 分配的内存</translation>
    </message>
    <message>
        <source>
--slurm mem=… with more, a shorter sequence_len, or more ranks</source>
        <translation>
增大 --slurm mem=…，缩短 sequence_len，或使用更多 rank</translation>
    </message>
    <message>
        <source>a node of Slurm job %1%2 failed</source>
        <translation>Slurm 作业 %1%2 的一个节点发生故障</translation>
    </message>
    <message>
        <source>
`ringmaster resume RUN` goes on on other nodes</source>
        <translation>
`ringmaster resume RUN` 在其他节点上继续</translation>
    </message>
    <message>
        <source>Slurm job %1 was preempted%2: it had to make way for another</source>
        <translation>Slurm 作业 %1 被抢占%2：它必须让位于另一个作业</translation>
    </message>
    <message>
        <source>
`ringmaster resume RUN` goes on from there</source>
        <translation>
`ringmaster resume RUN` 从那里继续</translation>
    </message>
    <message>
        <source>node %1 is gone: its agent was killed, or the machine</source>
        <translation>节点 %1 已消失：其守护进程被终止，或机器已停机</translation>
    </message>
    <message>
        <source>node %1 has been silent for %2 s: the machine or the network between</source>
        <translation>节点 %1 已有 %2 秒没有响应：机器或中间的网络出了问题</translation>
    </message>
    <message>
        <source>node %1 was cut off: a line came on its connection that its agent did not send</source>
        <translation>节点 %1 的连接已切断：收到了一行并非其守护进程发送的内容</translation>
    </message>
    <message>
        <source>node %1 sent a description that cannot be read</source>
        <translation>节点 %1 发来的描述无法读取</translation>
    </message>
    <message>
        <source>node %1 sent ends of ranks that cannot be read</source>
        <translation>节点 %1 发来的 rank 结束信息无法读取</translation>
    </message>
    <message>
        <source>node %1 did not come</source>
        <translation>节点 %1 没有连接上来</translation>
    </message>
    <message>
        <source>node %1 did not end its ranks</source>
        <translation>节点 %1 没有结束其 rank</translation>
    </message>
    <message>
        <source>Slurm job %1 was cancelled</source>
        <translation>Slurm 作业 %1 已被取消</translation>
    </message>
    <message>
        <source>Slurm job %1 could not open agent.log in the run directory%2</source>
        <translation>Slurm 作业 %1 无法打开运行目录中的 agent.log%2</translation>
    </message>
    <message>
        <source>
the run directory has to be on a file system that the nodes share: --runs-dir</source>
        <translation>
运行目录必须位于各节点共享的文件系统上：--runs-dir</translation>
    </message>
    <message>
        <source>Slurm job %1 ended with status %2</source>
        <translation>Slurm 作业 %1 以状态 %2 结束</translation>
    </message>
    <message>
        <source>, signal %1</source>
        <translation>，信号 %1</translation>
    </message>
    <message>
        <source>Slurm does not know Slurm job %1 any more</source>
        <translation>Slurm 已不再知道 Slurm 作业 %1</translation>
    </message>
    <message>
        <source>Slurm job %1 ended (%2) and its ranks left no last word</source>
        <translation>Slurm 作业 %1 已结束（%2），各 rank 没有留下任何消息</translation>
    </message>
    <message>
        <source>Slurm put Slurm job %1 back into its queue</source>
        <translation>Slurm 已将 Slurm 作业 %1 放回队列</translation>
    </message>
    <message>
        <source>Slurm job %1 was preempted: Slurm put it back into its queue</source>
        <translation>Slurm 作业 %1 被抢占：Slurm 已将它放回队列</translation>
    </message>
    <message>
        <source>saved as its time was nearly over, and Slurm did not take Slurm job %1 back into its queue</source>
        <translation>时间将尽时已保存，但 Slurm 没有将 Slurm 作业 %1 放回队列</translation>
    </message>
</context>
<context>
    <name>Verdicts</name>
    <message>
        <source>The others wait %1 of a step for it since step %2 or earlier.</source>
        <translation>从第 %2 步或更早起，其他 rank 每步有 %1 的时间在等它。</translation>
    </message>
    <message>
        <source>A rank</source>
        <translation>某个 rank</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <extracomment>%1 is a rank&apos;s number, %2 its host</extracomment>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>Rank %1 on %2</source>
        <translation>%2 上的 rank %1</translation>
    </message>
    <message>
        <source>Resume goes on from the checkpoint of step %1.</source>
        <translation>点击“恢复”会从第 %1 步的检查点继续。</translation>
    </message>
    <message>
        <source>No checkpoint was saved: resume starts from the beginning.</source>
        <translation>没有保存检查点：点击“恢复”会从头开始。</translation>
    </message>
    <message>
        <source>%1 has not finished a step.</source>
        <translation>%1 尚未完成任何一步。</translation>
    </message>
    <message>
        <source>No step for %1.</source>
        <translation>已有 %1没有完成新的一步。</translation>
    </message>
    <message>
        <source>The loss is not a number.</source>
        <translation>loss 不是数。</translation>
    </message>
    <message>
        <source>It began at step %1.</source>
        <translation>从第 %1 步开始。</translation>
    </message>
    <message>
        <source>Stop now and lower the learning rate or max_grad_norm.</source>
        <translation>立即停止，减小学习率或 max_grad_norm。</translation>
    </message>
    <message>
        <source>Stop now, lower the learning rate or max_grad_norm, and resume from step %1.</source>
        <translation>立即停止，减小学习率或 max_grad_norm，再从第 %1 步恢复。</translation>
    </message>
    <message>
        <source>Memory is nearly full.</source>
        <translation>显存将满。</translation>
    </message>
    <message>
        <source>%1 uses %2 of its device at the peak.</source>
        <translation>%1 的峰值占设备显存的 %2。</translation>
    </message>
    <message>
        <source>A longer sequence or a larger batch would not fit.</source>
        <translation>序列更长或批次更大就放不下。</translation>
    </message>
    <message>
        <source>%1 is slow.</source>
        <translation>%1 太慢。</translation>
    </message>
    <message>
        <source>The others wait %1 of a step for it since step %2.</source>
        <translation>从第 %2 步起，其他 rank 每步有 %1 的时间在等它。</translation>
    </message>
    <message>
        <source>Check that device: temperature, clock, other programs.</source>
        <translation>检查该设备：温度、频率、其他程序。</translation>
    </message>
    <message>
        <source>The loss has jumped.</source>
        <translation>loss 出现尖峰。</translation>
    </message>
    <message>
        <source>At step %1 it is %2 above the usual.</source>
        <translation>第 %1 步比平时高 %2。</translation>
    </message>
    <message>
        <source>Watch the gradient norm; lower the learning rate if it stays.</source>
        <translation>留意梯度范数；若不回落，减小学习率。</translation>
    </message>
    <message>
        <source>It has become slower.</source>
        <translation>运行变慢了。</translation>
    </message>
    <message>
        <source>Tokens per second fell by %1.</source>
        <translation>每秒 token 数下降了 %1。</translation>
    </message>
    <message>
        <source>Look for other programs on the nodes, and at the wait for data.</source>
        <translation>检查各节点上有无其他程序，以及等待数据的时间。</translation>
    </message>
    <message>
        <source>Much waiting for communication.</source>
        <translation>等待通信的时间很长。</translation>
    </message>
    <message>
        <source>%1 of a step is exposed communication.</source>
        <translation>未掩盖的通信占一步的 %1。</translation>
    </message>
    <message>
        <source>Other plans on the Plan page may expose less.</source>
        <translation>“计划”页中的其他方案可能暴露得更少。</translation>
    </message>
    <message>
        <source>Completed.</source>
        <translation>已完成。</translation>
    </message>
    <message>
        <source>The result is in %1.</source>
        <translation>结果在 %1。</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>已停止。</translation>
    </message>
    <message>
        <source>Failed.</source>
        <translation>已失败。</translation>
    </message>
    <message>
        <source>Waiting to start.</source>
        <translation>等待启动。</translation>
    </message>
    <message>
        <source>Starting.</source>
        <translation>正在启动。</translation>
    </message>
    <message>
        <source>Now: %1.</source>
        <translation>当前：%1。</translation>
    </message>
    <message>
        <source>Running well.</source>
        <translation>运行正常。</translation>
    </message>
    <message>
        <source>%1 of a step is exposed communication; no rank holds the others up.</source>
        <translation>未掩盖的通信占一步的 %1；没有 rank 拖慢其他 rank。</translation>
    </message>
    <message>
        <source>Saving the final model.</source>
        <translation>正在保存最终模型。</translation>
    </message>
    <message>
        <source>Stopping.</source>
        <translation>正在停止。</translation>
    </message>
    <message>
        <source>The step is finished and a checkpoint saved.</source>
        <translation>正在完成这一步并保存检查点。</translation>
    </message>
    <message>
        <source>Disconnected.</source>
        <translation>连接中断。</translation>
    </message>
    <message>
        <source>Last heard %1.</source>
        <translation>最近的消息：%1。</translation>
    </message>
    <message>
        <source>The run may well go on; what is known stays here.</source>
        <translation>运行很可能仍在继续；已收到的内容保留在这里。</translation>
    </message>
    <message>
        <source>Its files cannot be read any more.</source>
        <translation>其文件已无法读取。</translation>
    </message>
    <message>
        <source>What is shown was read before.</source>
        <translation>所示内容是此前读取的。</translation>
    </message>
    <message>
        <source>Running.</source>
        <translation>运行中。</translation>
    </message>
    <message>
        <source>Waiting for rollouts.</source>
        <translation>正在等待 rollout。</translation>
    </message>
    <message>
        <source>The next step begins when its files are in the folder.</source>
        <translation>文件进入文件夹后，下一步才会开始。</translation>
    </message>
    <message>
        <source>The last finished step is %1.</source>
        <translation>最后完成的是第 %1 步。</translation>
    </message>
    <message>
        <source>No rank has finished a step.</source>
        <translation>没有任何 rank 完成过一步。</translation>
    </message>
    <message>
        <source>%1 stopped first, after step %2.</source>
        <translation>%1 最先停下，停在第 %2 步之后。</translation>
    </message>
    <message>
        <source>The last phase was %1.</source>
        <translation>最后的阶段是：%1。</translation>
    </message>
    <message>
        <source>Look at the log; stop now and resume if it does not come back.</source>
        <translation>查看日志；若没有任何进展，请按“立即停止”，再按“恢复”。</translation>
    </message>
</context>
<context>
    <name>ringmaster::AdaptDialog</name>
    <message>
        <source>Make it run</source>
        <translation>使其能够运行</translation>
    </message>
    <message>
        <source>With these changes the plan works.</source>
        <translation>做了这些改动，计划就可行。</translation>
    </message>
    <message>
        <source>The plan does not work yet.</source>
        <translation>计划目前还不可行。</translation>
    </message>
    <message>
        <source>Result: %1</source>
        <translation>结果：%1</translation>
    </message>
    <message>
        <source>Memory of the fullest rank: %1</source>
        <translation>占用最多的 rank 的显存：%1</translation>
    </message>
    <message>
        <source>Global batch: %1 instead of %2</source>
        <translation>全局批大小：%1，原为 %2</translation>
    </message>
    <message>
        <source>Missing:</source>
        <translation>缺少：</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>改动</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
</context>
<context>
    <name>ringmaster::AddTarget</name>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Kind of target</source>
        <translation>目标类型</translation>
    </message>
    <message>
        <source>Machine over SSH</source>
        <translation>SSH 机器</translation>
    </message>
    <message>
        <source>Slurm of this machine</source>
        <translation>本机的 Slurm</translation>
    </message>
    <message>
        <source>Slurm through a login node</source>
        <translation>通过登录节点的 Slurm</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>机器</translation>
    </message>
    <message>
        <source>A host of ~/.ssh/config, or [user@]host[:port]</source>
        <translation>~/.ssh/config 中的主机，或 [用户@]主机[:端口]</translation>
    </message>
    <message>
        <source>[user@]host[:port]</source>
        <translation>[用户@]主机[:端口]</translation>
    </message>
</context>
<context>
    <name>ringmaster::AdviceCard</name>
    <message>
        <source>Other plans</source>
        <translation>其他方案</translation>
    </message>
    <message>
        <source>ranked by predicted tokens/s</source>
        <translation>按预计的每秒 token 数排序</translation>
    </message>
    <message>
        <source>Nothing is planned yet.</source>
        <translation>尚未规划。</translation>
    </message>
    <message>
        <source>Show fewer</source>
        <translation>收起</translation>
    </message>
    <message numerus="yes">
        <source>Show %n more</source>
        <translation>
            <numerusform>再显示 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>The present plan is the fastest; these would be the next.</source>
        <translation>当前计划最快，以下是其次的方案。</translation>
    </message>
    <message>
        <source>No other mesh of this text can be trained as it stands.</source>
        <translation>按现在的文本，没有其他网格可以训练。</translation>
    </message>
    <message>
        <source>Nothing can be ranked: the model&apos;s shape is not known here.</source>
        <translation>无法排序：这里不知道模型的形状。</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>Writes into the text:</source>
        <translation>写入文本：</translation>
    </message>
    <message>
        <source>Apply %1</source>
        <translation>应用 %1</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 token/s</translation>
    </message>
    <message>
        <source>%1 exposed</source>
        <extracomment>share of a step spent on communication that computation does not hide</extracomment>
        <translation>未掩盖 %1</translation>
    </message>
    <message>
        <source>Ranked as if the problems of the text were solved.</source>
        <translation>按假定文本中的问题已解决来排序。</translation>
    </message>
</context>
<context>
    <name>ringmaster::AlertsDialog</name>
    <message>
        <source>Show a notification on this desktop</source>
        <translation>在此桌面上显示通知</translation>
    </message>
    <message>
        <source>Alerts</source>
        <translation>警报</translation>
    </message>
    <message>
        <source>All charts mark alerts. The app shows those of the run in Monitor on this desktop. The webhook and the command belong to the runs that are made from now on: the machine of a run&apos;s first node calls them, even when this window is closed.</source>
        <translation>所有图都会标出警报。本程序在此桌面上显示“监控”页当前运行的警报。webhook 和命令适用于此后创建的运行：由运行第一个节点所在的机器调用，即使这个窗口已经关闭。</translation>
    </message>
    <message>
        <source>The webhook gets a POST with JSON. The command is run without a shell: the message is its last argument, and the JSON is on its input.</source>
        <translation>webhook 会收到内容为 JSON 的 POST 请求。命令不经过 shell 执行：消息作为最后一个参数，JSON 从标准输入传入。</translation>
    </message>
    <message>
        <source>Webhook</source>
        <translation>Webhook</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>The settings cannot be read.</source>
        <translation>无法读取设置。</translation>
    </message>
    <message>
        <source>Tell me when</source>
        <translation>出现以下情况时通知我</translation>
    </message>
    <message>
        <source>The settings were not saved.</source>
        <translation>设置未保存。</translation>
    </message>
    <message>
        <source>Saving replaces them.</source>
        <translation>保存会替换这些设置。</translation>
    </message>
    <message>
        <source>A quotation mark in the command is not closed.</source>
        <translation>命令中的引号没有成对出现。</translation>
    </message>
    <message>
        <source>Add the second quote.</source>
        <translation>请补上另一个引号。</translation>
    </message>
    <message>
        <source>The webhook is not an address that begins with https:// or http://.</source>
        <translation>webhook 不是以 https:// 或 http:// 开头的地址。</translation>
    </message>
    <message>
        <source>Paste the address as the service shows it.</source>
        <translation>请原样粘贴服务给出的地址。</translation>
    </message>
    <message>
        <source>The command has to begin with a program, and may have at most 63 arguments of at most 4,096 characters.</source>
        <translation>命令必须以一个程序开头，其后最多 63 个参数，每个参数最多 4,096 个字符。</translation>
    </message>
    <message>
        <source>Name a program and its arguments, or leave the field empty.</source>
        <translation>请填写程序及其参数，或留空。</translation>
    </message>
</context>
<context>
    <name>ringmaster::AttentionCard</name>
    <message>
        <source>Attention kernels</source>
        <translation>注意力内核</translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>解决上面的问题之后才能得知。</translation>
    </message>
    <message>
        <source>Not known yet: the model&apos;s shape is missing.</source>
        <translation>尚不清楚：缺少模型的形状。</translation>
    </message>
    <message>
        <source>%1: %2 (%3)</source>
        <extracomment>a kernel, what it computes, and why</extracomment>
        <translation>%1：%2（%3）</translation>
    </message>
</context>
<context>
    <name>ringmaster::BatchCard</name>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>解决上面的问题之后才能得知。</translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation>全局批大小</translation>
    </message>
    <message>
        <source>Changes gradient_accumulation_steps in the text; undo takes it back</source>
        <translation>修改文本中的 gradient_accumulation_steps，可以撤销</translation>
    </message>
    <message>
        <source>Global batch: %1</source>
        <translation>全局批大小：%1</translation>
    </message>
    <message>
        <source>Keep %1: accumulate %2</source>
        <translation>保持 %1：累积 %2 步</translation>
    </message>
    <message numerus="yes">
        <source>%1 becomes %2: %n rank(s) share one sequence.</source>
        <translation>
            <numerusform>%1 变为 %2：%n 个 rank 共享一条序列。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>row(s) a step</source>
        <extracomment>below a figure, the number of the rows</extracomment>
        <translation>
            <numerusform>行（每步）</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 micro × %2 accumulation × (%n rank(s) ÷ %3)</source>
        <translation>
            <numerusform>微批次 %1 × 累积 %2 ×（%n 个 rank ÷ %3）</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens a step</source>
        <translation>每步 %1 个 token</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>共 %1 步</translation>
    </message>
</context>
<context>
    <name>ringmaster::ChartCard</name>
    <message>
        <source>Menu of the chart %1</source>
        <translation>图表“%1”的菜单</translation>
    </message>
    <message>
        <source>Save the chart, or see all of it</source>
        <translation>保存图表，或显示全部</translation>
    </message>
    <message>
        <source>Save picture…</source>
        <translation>保存图片…</translation>
    </message>
    <message>
        <source>Pictures (*.png)</source>
        <translation>图片 (*.png)</translation>
    </message>
    <message>
        <source>Save figures…</source>
        <translation>保存数据…</translation>
    </message>
    <message>
        <source>Figures (*.csv)</source>
        <translation>数据 (*.csv)</translation>
    </message>
    <message>
        <source>Show all of it</source>
        <translation>显示全部</translation>
    </message>
    <message>
        <source>The picture cannot be written there.</source>
        <translation>无法在该处写入图片。</translation>
    </message>
</context>
<context>
    <name>ringmaster::CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Type what you want to do</source>
        <translation>输入想做的事</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Commands that match</source>
        <translation>匹配的命令</translation>
    </message>
    <message>
        <source>No command matches.</source>
        <translation>没有这样的命令。</translation>
    </message>
</context>
<context>
    <name>ringmaster::CompareView</name>
    <message>
        <source>Nothing differs in what was asked for.</source>
        <translation>各运行的配置相同。</translation>
    </message>
    <message>
        <source>Figures of the compared runs</source>
        <translation>所比较运行的指标</translation>
    </message>
    <message>
        <source>Lines that differ</source>
        <translation>不同的行</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>所有运行</translation>
    </message>
    <message>
        <source>Back to the table (Esc)</source>
        <translation>返回列表 (Esc)</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>token/s</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Saved %1.</source>
        <translation>已保存 %1。</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>against the first run</source>
        <translation>与第一个运行相比</translation>
    </message>
    <message>
        <source>What differs</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>in the configuration and, grey, in the plan</source>
        <translation>配置中的差异；灰色为计划中的差异</translation>
    </message>
    <message>
        <source>X axis</source>
        <translation>X 轴</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Over completed steps</source>
        <translation>按已完成的步</translation>
    </message>
    <message>
        <source>Over the tokens trained on</source>
        <translation>按已训练的 token 数</translation>
    </message>
    <message>
        <source>Over the seconds spent in steps: without pauses, saving and evaluation</source>
        <translation>按各步累计的秒数，不含暂停、保存和评估</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n 个运行</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 has no steps yet.</source>
        <translation>%1 还没有完成任何一步。</translation>
    </message>
    <message>
        <source>Not everything can be compared.</source>
        <translation>部分内容无法比较。</translation>
    </message>
    <message>
        <source>Logarithmic</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>Loss on a logarithmic axis</source>
        <translation>loss 使用对数轴</translation>
    </message>
    <message>
        <source>Reward</source>
        <translation>奖励</translation>
    </message>
    <message>
        <source>Clipped ratios</source>
        <translation>被裁剪的比率</translation>
    </message>
    <message>
        <source>Gap to the sampling server</source>
        <translation>与采样服务器的差距</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>未掩盖的通信</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
</context>
<context>
    <name>ringmaster::ContextCard</name>
    <message>
        <source>Context parallel size</source>
        <translation>上下文并行大小</translation>
    </message>
    <message>
        <source>Context parallel size %1</source>
        <translation>上下文并行大小 %1</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share one sequence</source>
        <translation>
            <numerusform>%n 个 rank 共享一条序列</numerusform>
        </translation>
    </message>
    <message>
        <source>The size has to divide %1.</source>
        <translation>该大小必须是 %1 的约数。</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share one sequence of %1 tokens: %2 each.</source>
        <translation>
            <numerusform>%n 个 rank 共享一条 %1 个 token 的序列，每个 rank %2 个。</numerusform>
        </translation>
    </message>
    <message>
        <source>Every rank holds whole sequences of %1 tokens.</source>
        <translation>每个 rank 持有完整的序列，每条 %1 个 token。</translation>
    </message>
    <message>
        <source>One rank holds whole sequences of %1 tokens.</source>
        <translation>一个 rank 持有完整的序列，每条 %1 个 token。</translation>
    </message>
</context>
<context>
    <name>ringmaster::DataPage</name>
    <message>
        <source>tokens in the longest row kept</source>
        <translation>保留的最长行的 token 数</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>ranks %1 to %2</source>
        <translation>rank %1 至 %2</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n 个 token</numerusform>
        </translation>
    </message>
    <message>
        <source>rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>of the tokens are trained</source>
        <translation>的 token 参与训练</translation>
    </message>
    <message>
        <source>tokens in the longest document kept</source>
        <translation>保留的最长文档的 token 数</translation>
    </message>
    <message>
        <source>rows, packed from documents</source>
        <translation>行（由文档打包而成）</translation>
    </message>
    <message>
        <source>Show the rows of %1</source>
        <translation>显示 %1 的数据行</translation>
    </message>
    <message>
        <source>No rows are shown yet</source>
        <translation>还没有显示任何行</translation>
    </message>
    <message>
        <source>Open a configuration on the Plan page and press Rows. You see the text after the template, and which tokens are trained.</source>
        <translation>在“计划”页打开一个配置并点击“数据行”。您会看到套用模板后的文本，以及哪些 token 参与训练。</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>All rows</source>
        <translation>全部行</translation>
    </message>
    <message>
        <source>As the model reads it</source>
        <translation>模型读到的样子</translation>
    </message>
    <message>
        <source>underlined: trained · grey: read only · bold: a special token</source>
        <translation>下划线：参与训练 · 灰色：仅读取 · 粗体：特殊 token</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>数据行</translation>
    </message>
    <message>
        <source>Search the text of all rows</source>
        <translation>搜索所有行的文本</translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) hold it</source>
        <translation>
            <numerusform>%n 行包含它</numerusform>
        </translation>
    </message>
    <message>
        <source>Reading the configuration</source>
        <translation>正在读取配置</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation>%1：%2 / %3</translation>
    </message>
    <message>
        <source>The rows cannot be shown.</source>
        <translation>无法显示这些行。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>%1 left out: longer than sequence_len</source>
        <translation>去掉 %1 行：长于 sequence_len</translation>
    </message>
    <message>
        <source>%1 left out: too short</source>
        <translation>去掉 %1 行：太短</translation>
    </message>
    <message>
        <source>%1 cut to sequence_len</source>
        <translation>%1 行截断到 sequence_len</translation>
    </message>
    <message>
        <source>%1 documents are packed into %2 rows, %3 full</source>
        <translation>%1 个文档打包为 %2 行，填充率 %3</translation>
    </message>
    <message>
        <source>%1 more rows evaluate</source>
        <translation>另有 %1 行用于评估</translation>
    </message>
    <message>
        <source>There is no tokenizer.json here: tokens are shown as numbers.</source>
        <translation>这里没有 tokenizer.json：token 以数字显示。</translation>
    </message>
    <message>
        <source>%1 rows repeat an earlier one: row %2 is row %3 again</source>
        <translation>%1 行与前面的行重复：第 %2 行与第 %3 行相同</translation>
    </message>
    <message>
        <source>Row %1</source>
        <translation>第 %1 行</translation>
    </message>
    <message>
        <source>%1 tokens, %2 trained</source>
        <translation>%1 个 token，%2 个参与训练</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>还有 %n 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n document(s)</source>
        <translation>
            <numerusform>%n 个文档</numerusform>
        </translation>
    </message>
    <message>
        <source>step %1 of the first epoch on %2</source>
        <extracomment>when and where a row is trained on: &quot;step 12 of the first epoch on ranks 0 to 3&quot;</extracomment>
        <translation>第一轮的第 %1 步，在 %2 上</translation>
    </message>
    <message>
        <source>searching…</source>
        <translation>正在搜索…</translation>
    </message>
    <message>
        <source>%1, line %2</source>
        <translation>%1，第 %2 行</translation>
    </message>
    <message>
        <source>%1, row %2</source>
        <translation>%1，第 %2 行</translation>
    </message>
    <message>
        <source>Answers of a row share their prompt: %1 of the tokens are not computed again</source>
        <translation>同一行的回答共用提示：%1 的 token 无需重复计算</translation>
    </message>
</context>
<context>
    <name>ringmaster::DetailsPanel</name>
    <message>
        <source>Open in Monitor</source>
        <translation>在监控中打开</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Duplicate into Plan</source>
        <translation>复制到计划</translation>
    </message>
    <message>
        <source>Resume from here</source>
        <translation>从这里恢复</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>修改时间</translation>
    </message>
    <message>
        <source>Files of the run</source>
        <translation>运行的文件</translation>
    </message>
    <message>
        <source>Configuration of the run</source>
        <translation>运行的配置</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>概要</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Chosen run</source>
        <translation>所选运行</translation>
    </message>
    <message>
        <source>Open in Monitor (Enter)</source>
        <translation>在监控中打开 (Enter)</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>More actions for this run</source>
        <translation>此运行的更多操作</translation>
    </message>
    <message>
        <source>Save diagnostics…</source>
        <translation>保存诊断信息…</translation>
    </message>
    <message>
        <source>Export as CSV…</source>
        <translation>导出为 CSV…</translation>
    </message>
    <message>
        <source>Export for TensorBoard…</source>
        <translation>导出为 TensorBoard…</translation>
    </message>
    <message>
        <source>Open the run&apos;s folder</source>
        <translation>打开运行目录</translation>
    </message>
    <message>
        <source>Open the trained model&apos;s folder</source>
        <translation>打开训练好的模型的文件夹</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>删除…</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>loss</translation>
    </message>
    <message>
        <source>best loss</source>
        <translation>最低 loss</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>保存时间</translation>
    </message>
    <message>
        <source>Complete checkpoints</source>
        <translation>完整的检查点</translation>
    </message>
    <message>
        <source>No run is chosen</source>
        <translation>未选择运行</translation>
    </message>
    <message>
        <source>This run&apos;s files are damaged.</source>
        <translation>此运行的文件已损坏。</translation>
    </message>
    <message>
        <source>It failed.</source>
        <translation>运行失败。</translation>
    </message>
    <message>
        <source>%1 tokens a sequence</source>
        <translation>每条序列 %1 个 token</translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) a step</source>
        <translation>
            <numerusform>每步 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>started %1</source>
        <translation>开始于 %1</translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>第 %1 次尝试</translation>
    </message>
    <message>
        <source>Goes on from the newest complete checkpoint</source>
        <translation>从最新的完整检查点继续</translation>
    </message>
    <message>
        <source>Only a run that stopped or failed can go on</source>
        <translation>只有已停止或已失败的运行可以恢复</translation>
    </message>
    <message>
        <source>Checkpoints (%1)</source>
        <translation>检查点 (%1)</translation>
    </message>
    <message>
        <source>No checkpoint was saved to its end yet.</source>
        <translation>还没有完整的检查点。</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Loss of the chosen run</source>
        <translation>所选运行的 loss</translation>
    </message>
    <message>
        <source>No step yet</source>
        <translation>还没有完成任何一步</translation>
    </message>
    <message>
        <source>ran %1</source>
        <translation>运行了 %1</translation>
    </message>
    <message>
        <source>on %1</source>
        <translation>在 %1 上</translation>
    </message>
    <message>
        <source>for Slurm</source>
        <translation>用于 Slurm</translation>
    </message>
    <message>
        <source>Slurm job %1</source>
        <extracomment>%1 is the number of a job, %2 a login node</extracomment>
        <translation>Slurm 作业 %1</translation>
    </message>
    <message>
        <source>Slurm job %1 of %2</source>
        <translation>%2 的 Slurm 作业 %1</translation>
    </message>
    <message>
        <source>Bring model or checkpoint here…</source>
        <translation>取回模型或检查点…</translation>
    </message>
    <message>
        <source>Try the trained model…</source>
        <translation>试用训练好的模型…</translation>
    </message>
    <message>
        <source>mean tokens/s</source>
        <translation>平均 token/s</translation>
    </message>
    <message>
        <source>exposed communication (last steps)</source>
        <translation>未掩盖的通信（最近几步）</translation>
    </message>
    <message>
        <source>running for %1</source>
        <extracomment>%1 is a duration such as 1 min 40 s</extracomment>
        <translation>已运行 %1</translation>
    </message>
</context>
<context>
    <name>ringmaster::EstimateBars</name>
    <message>
        <source>Estimate beside measurement</source>
        <translation>估算与实测对照</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>每步时间</translation>
    </message>
    <message>
        <source>not measured yet</source>
        <translation>尚无实测</translation>
    </message>
    <message>
        <source>not estimated</source>
        <translation>没有估算</translation>
    </message>
    <message>
        <source>as estimated</source>
        <translation>与估算相符</translation>
    </message>
    <message>
        <source>%1 below the estimate</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation>比估算低 %1</translation>
    </message>
    <message>
        <source>%1 above the estimate</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation>比估算高 %1</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>估算</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>%1 times the estimate</source>
        <translation>估算的 %1 倍</translation>
    </message>
    <message>
        <source>%1 of the estimate</source>
        <translation>估算的 %1</translation>
    </message>
    <message>
        <source>%1 points below the estimate</source>
        <extracomment>of two shares; %1 is a number of percentage points</extracomment>
        <translation>比估算低 %1 个百分点</translation>
    </message>
    <message>
        <source>%1 points above the estimate</source>
        <extracomment>of two shares; %1 is a number of percentage points</extracomment>
        <translation>比估算高 %1 个百分点</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>未掩盖的通信</translation>
    </message>
    <message>
        <source>Tensors of the fullest rank</source>
        <translation>占用最多的 rank 的张量</translation>
    </message>
</context>
<context>
    <name>ringmaster::ExpertsCard</name>
    <message>
        <source>Tokens for a rank&apos;s experts</source>
        <translation>一个 rank 的专家收到的 token</translation>
    </message>
    <message>
        <source>Tokens that a rank&apos;s experts receive</source>
        <translation>一个 rank 的专家收到的 token 数</translation>
    </message>
    <message>
        <source>Legend of the tokens</source>
        <translation>token 图例</translation>
    </message>
    <message>
        <source>In one layer and micro-batch; a token counts once for each of its experts. At worst, all tokens choose experts of one rank.</source>
        <translation>按一层和一个微批次计算；一个 token 对它选中的每个专家各计一次。最坏情况下，所有 token 都选择同一个 rank 的专家。</translation>
    </message>
    <message>
        <source>if the load is even</source>
        <translation>负载均匀时</translation>
    </message>
    <message>
        <source>at worst</source>
        <translation>最坏情况</translation>
    </message>
    <message>
        <source>%1 of %2 experts a rank</source>
        <translation>每个 rank 有 %1 / %2 个专家</translation>
    </message>
</context>
<context>
    <name>ringmaster::FetchDialog</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Each file is verified by its hash. Files that are here already are not sent; an interrupted file goes on where it stopped.</source>
        <translation>每个文件都用哈希校验。已在本机的不再传输；中断的从断点继续。</translation>
    </message>
    <message>
        <source>What the run has made</source>
        <translation>运行的成果</translation>
    </message>
    <message>
        <source>Connecting, logging in, asking the machine…</source>
        <translation>正在连接、登录、询问机器…</translation>
    </message>
    <message>
        <source>The trained model</source>
        <translation>训练好的模型</translation>
    </message>
    <message>
        <source>Checkpoint of step %1</source>
        <translation>第 %1 步的检查点</translation>
    </message>
    <message>
        <source>There is nothing yet.</source>
        <translation>还没有内容。</translation>
    </message>
    <message>
        <source>No checkpoint was saved to its end, and the run has not completed.</source>
        <translation>尚无完整保存的检查点，运行也未完成。</translation>
    </message>
    <message>
        <source>Comparing what is here and there…</source>
        <translation>正在比较本机与远端的内容…</translation>
    </message>
    <message>
        <source>It is here.</source>
        <translation>已取回。</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s), %1, of which %2 came now</source>
        <extracomment>%n is a number of files, %1 and %2 are sizes</extracomment>
        <translation>
            <numerusform>%n 个文件，共 %1，其中 %2 为本次传输</numerusform>
        </translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Fetch what %1 has made</source>
        <extracomment>%1 is the name of a run</extracomment>
        <translation>取回 %1 的成果</translation>
    </message>
    <message>
        <source>Fetch</source>
        <translation>取回</translation>
    </message>
</context>
<context>
    <name>ringmaster::FiguresModel</name>
    <message>
        <source>Last loss</source>
        <translation>最终 loss</translation>
    </message>
    <message>
        <source>Best loss</source>
        <translation>最低 loss</translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation>评估 loss</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>每步时间</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>显存峰值</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>Memory ÷ estimate</source>
        <translation>显存 ÷ 估算</translation>
    </message>
    <message>
        <source>Step time ÷ estimate</source>
        <translation>每步时间 ÷ 估算</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>相同</translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>多 %1</translation>
    </message>
    <message>
        <source>%1 less</source>
        <translation>少 %1</translation>
    </message>
    <message>
        <source>better by %1</source>
        <extracomment>%1 is a difference such as 7 % or 1.4 points</extracomment>
        <translation>更好 %1</translation>
    </message>
    <message>
        <source>worse by %1</source>
        <extracomment>%1 is a difference such as 7 % or 1.4 points</extracomment>
        <translation>更差 %1</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Last reward</source>
        <translation>最近的奖励</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>未掩盖的通信</translation>
    </message>
    <message>
        <source>about the same</source>
        <translation>基本相同</translation>
    </message>
    <message>
        <source>%1 points</source>
        <extracomment>%1 is a difference of percentages: from 8 % to 6 % are 2 points</extracomment>
        <translation>%1 个百分点</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>token/s</translation>
    </message>
</context>
<context>
    <name>ringmaster::FindBar</name>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Find in the text</source>
        <translation>在文本中查找</translation>
    </message>
    <message>
        <source>Previous (Shift+Enter)</source>
        <translation>上一个 (Shift+Enter)</translation>
    </message>
    <message>
        <source>Next (Enter)</source>
        <translation>下一个 (Enter)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>关闭 (Esc)</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>未找到</translation>
    </message>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>找到 %n 处</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::FollowDialog</name>
    <message>
        <source>Nothing of Ringmaster is on %1: no run was ever launched there.</source>
        <translation>%1 上没有 Ringmaster 的任何内容：从未在那里启动过运行。</translation>
    </message>
    <message>
        <source>No run was launched on %1 over SSH. Those that were started on the machine itself are watched there.</source>
        <translation>没有通过 SSH 在 %1 上启动的运行。在该机器本地启动的运行请在那里查看。</translation>
    </message>
    <message>
        <source>There is no run on %1.</source>
        <translation>%1 上没有运行。</translation>
    </message>
    <message>
        <source>Show its runs</source>
        <translation>显示其运行</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>跟踪</translation>
    </message>
    <message>
        <source>Runs on that machine</source>
        <translation>该机器上的运行</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Last step</source>
        <translation>最新步</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>开始时间</translation>
    </message>
    <message>
        <source>Machine that the run is on</source>
        <translation>运行所在的机器</translation>
    </message>
    <message>
        <source>A host of ~/.ssh/config, or [user@]host[:port]: one of the run&apos;s nodes, or all of them in their order with commas between them. Those alone are contacted.</source>
        <translation>~/.ssh/config 中的主机，或 [用户@]主机[:端口]：该运行的某个节点，或按顺序列出全部节点，以逗号分隔。只会联系所列的主机。</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>机器</translation>
    </message>
    <message>
        <source>Connecting, logging in, asking the machine…</source>
        <translation>正在连接、登录、询问机器…</translation>
    </message>
    <message>
        <source>Nothing to follow.</source>
        <translation>没有可跟踪的运行。</translation>
    </message>
    <message>
        <source>A Slurm job is followed on the machine that submitted it.</source>
        <translation>Slurm 作业在提交它的机器上跟踪。</translation>
    </message>
    <message>
        <source>Looking at the run…</source>
        <translation>正在查看运行…</translation>
    </message>
    <message>
        <source>Follow a run on another machine</source>
        <translation>跟踪另一台机器上的运行</translation>
    </message>
    <message>
        <source>You can follow any run that was launched over SSH, from whatever machine. Following it starts and stops nothing. You can stop it, resume it and fetch its model from here, like a run of your own.</source>
        <translation>可跟踪任何通过 SSH 启动的运行，无论从哪台机器启动。跟踪本身不会启动或停止任何东西，但您可以像对待自己的运行一样，在这里停止、恢复它，或取回它的模型。</translation>
    </message>
    <message>
        <source>Not read yet.</source>
        <translation>尚未读取。</translation>
    </message>
    <message>
        <source>[user@]host[:port]</source>
        <translation>[用户@]主机[:端口]</translation>
    </message>
</context>
<context>
    <name>ringmaster::HeatMap</name>
    <message>
        <source>Ranks over time</source>
        <translation>各 rank 随时间的变化</translation>
    </message>
    <message numerus="yes">
        <source>%n ranks against their median.</source>
        <translation>
            <numerusform>%n 个 rank 与它们的中位数相比。</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is slower now.</source>
        <translation>%1 现在较慢。</translation>
    </message>
    <message>
        <source>faster</source>
        <extracomment>colours of a heat map&apos;s scale: text on its left, text on its right</extracomment>
        <translation>较快</translation>
    </message>
    <message>
        <source>slower by a quarter or more</source>
        <translation>慢四分之一或更多</translation>
    </message>
    <message>
        <source>Nothing to compare yet.</source>
        <translation>还没有可比较的内容。</translation>
    </message>
    <message>
        <source>%1: %2, %3 slower than the median</source>
        <translation>%1：%2，比中位数慢 %3</translation>
    </message>
    <message>
        <source>%1: %2, %3 faster than the median</source>
        <translation>%1：%2，比中位数快 %3</translation>
    </message>
</context>
<context>
    <name>ringmaster::HelpPage</name>
    <message>
        <source>Search help</source>
        <translation>搜索帮助</translation>
    </message>
    <message>
        <source>Search help (%1)</source>
        <translation>搜索帮助 (%1)</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Explanation</source>
        <translation>说明</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>First steps</source>
        <translation>入门</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>消息</translation>
    </message>
</context>
<context>
    <name>ringmaster::KeysCard</name>
    <message>
        <source>Keys of the file</source>
        <translation>文件中的键</translation>
    </message>
    <message>
        <source>Used: %1</source>
        <translation>已使用：%1</translation>
    </message>
    <message>
        <source>Without effect here: %1</source>
        <translation>不起作用：%1</translation>
    </message>
    <message>
        <source>Not supported: %1</source>
        <translation>不支持：%1</translation>
    </message>
</context>
<context>
    <name>ringmaster::LaunchDialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Overwrite</source>
        <translation>覆盖</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation>立即停止</translation>
    </message>
    <message>
        <source>Show in Monitor</source>
        <translation>在监控中查看</translation>
    </message>
    <message>
        <source>calling it off</source>
        <translation>正在取消</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message>
        <source>Add to the queue</source>
        <translation>加入队列</translation>
    </message>
    <message>
        <source>Prepare the run now; it starts there when its turn comes</source>
        <translation>现在准备运行；轮到它时在那里启动</translation>
    </message>
</context>
<context>
    <name>ringmaster::LaunchForm</name>
    <message>
        <source>not checked yet</source>
        <translation>尚未检查</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>Machines over SSH</source>
        <translation>SSH 机器</translation>
    </message>
    <message>
        <source>Prove the mesh first (preflight)</source>
        <translation>先验证网格（preflight）</translation>
    </message>
    <message>
        <source>The ranks are processes of this machine; they go on when the window is closed.</source>
        <translation>各 rank 是本机的进程；关闭窗口后它们会继续。</translation>
    </message>
    <message>
        <source>Machines that the ranks are spread over</source>
        <translation>各 rank 分布到的机器</translation>
    </message>
    <message>
        <source>Name and check machines…</source>
        <translation>添加并检查机器…</translation>
    </message>
    <message>
        <source>Before the first step, the run&apos;s first rows are computed as one rank would: loss and gradients have to agree, or it does not start.</source>
        <translation>第一步之前，先按单个 rank 的方式计算最前面的几行数据：loss 和梯度必须一致，否则不会启动。</translation>
    </message>
    <message>
        <source>never</source>
        <translation>从不</translation>
    </message>
    <message>
        <source>Restarts after a failure</source>
        <translation>失败后重启次数</translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation>运行名称</translation>
    </message>
    <message>
        <source>No machine is named yet.</source>
        <translation>尚未添加机器。</translation>
    </message>
    <message>
        <source>Choose the machines.</source>
        <translation>请选择机器。</translation>
    </message>
    <message>
        <source>Submit</source>
        <translation>提交</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Leave out nodes that stay away, without asking</source>
        <translation>节点不再响应时直接舍弃，不再询问</translation>
    </message>
    <message>
        <source>A node that does not answer for 30 s is left out where the mesh can be smaller; node 0 has to be there. The rows of a step, and with them the losses, stay the same where they can.</source>
        <translation>若网格可以缩小，30 秒无响应的节点将被舍弃；节点 0 必须可用。每步的行数以及 loss 在可能时保持不变。</translation>
    </message>
    <message>
        <source>Slurm decides: it requeues a job that it warned before its time limit. After any other end, press Resume.</source>
        <translation>由 Slurm 决定：到时限前收到预警的作业会重新排队；其他情况请按“恢复”</translation>
    </message>
    <message>
        <source>from the newest complete checkpoint, by this window: once it is closed the run goes on, but is not started again</source>
        <translation>由本窗口从最新的完整检查点重启：关闭窗口后运行会继续，但不再自动重启</translation>
    </message>
    <message>
        <source>from the newest complete checkpoint, by the agent on that machine, with this window closed too</source>
        <translation>由该机器上的守护进程从最新的完整检查点重启，关闭本窗口后也有效</translation>
    </message>
    <message>
        <source>from the newest complete checkpoint, by the agent, with this window closed too</source>
        <translation>由守护进程从最新的完整检查点重启，关闭本窗口后也有效</translation>
    </message>
    <message>
        <source>A job is submitted only as it is shown: press “%1” first.</source>
        <translation>作业只按显示的内容提交：请先按“%1”。</translation>
    </message>
    <message>
        <source>To add it to the queue, set the restarts to never: nothing restarts a queued run over several machines.</source>
        <translation>要加入队列，请将重启次数设为“从不”：队列中跨多台机器的运行不会自动重启。</translation>
    </message>
</context>
<context>
    <name>ringmaster::LengthChart</name>
    <message>
        <source>Lengths of the rows</source>
        <translation>各行的长度</translation>
    </message>
    <message>
        <source>%1 rows up to %2 tokens</source>
        <translation>%1 行不超过 %2 个 token</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 个 token</translation>
    </message>
    <message>
        <source>%1 rows of %2 to %3 tokens</source>
        <translation>%1 行有 %2 至 %3 个 token</translation>
    </message>
</context>
<context>
    <name>ringmaster::LinesModel</name>
    <message>
        <source>What the plan made of it</source>
        <translation>计划由此得出的值</translation>
    </message>
    <message>
        <source>As the configuration says</source>
        <translation>配置中的值</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>键</translation>
    </message>
</context>
<context>
    <name>ringmaster::LogModel</name>
    <message>
        <source>warning: </source>
        <translation>[警告] </translation>
    </message>
    <message>
        <source>error: </source>
        <translation>[错误] </translation>
    </message>
    <message>
        <source>agent</source>
        <translation>守护进程</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>From</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>What</source>
        <translation>内容</translation>
    </message>
</context>
<context>
    <name>ringmaster::LogView</name>
    <message>
        <source>Whose log</source>
        <translation>日志来源</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>搜索日志</translation>
    </message>
    <message>
        <source>Log of the run</source>
        <translation>运行的日志</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>All, by time</source>
        <translation>全部，按时间</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>警告和错误</translation>
    </message>
    <message>
        <source>Agent</source>
        <translation>守护进程</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>First error, rank %1 at %2: %3</source>
        <translation>第一个错误，rank %1，%2：%3</translation>
    </message>
</context>
<context>
    <name>ringmaster::MachineCard</name>
    <message>
        <source>Open the folder %1</source>
        <translation>打开文件夹 %1</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>Looking at this machine…</source>
        <translation>正在检测本机…</translation>
    </message>
    <message>
        <source>fine</source>
        <translation>正常</translation>
    </message>
    <message>
        <source>worth knowing</source>
        <translation>注意</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Set up LibTorch</source>
        <translation>安装 LibTorch</translation>
    </message>
    <message>
        <source>Measure its speed</source>
        <translation>测量速度</translation>
    </message>
    <message>
        <source>Takes about 20 seconds. Plan then calculates times from what was measured. Stop other computations first.</source>
        <translation>约需 20 秒。之后“计划”页按实测值推算时间。请先停止其他计算。</translation>
    </message>
</context>
<context>
    <name>ringmaster::MachineDialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <extracomment>%1 is a file&apos;s name, %2 and %3 are sizes</extracomment>
        <translation>%1：%2 / %3</translation>
    </message>
    <message>
        <source>That did not work.</source>
        <translation>操作未成功。</translation>
    </message>
</context>
<context>
    <name>ringmaster::MainWindow</name>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>计划</translation>
    </message>
    <message>
        <source>Monitor</source>
        <translation>监控</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>菜单</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>Attach to a run…</source>
        <translation>连接到运行…</translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation>连接到运行</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>As the desktop</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>About Ringmaster</source>
        <translation>关于 Ringmaster</translation>
    </message>
    <message>
        <source>Ringmaster %1

Plans, launches and watches the training of language models on sequences too long for one GPU.

GPL-3.0-or-later. Built on Qt %2, LibTorch, yaml‑cpp and libssh.</source>
        <translation>Ringmaster %1

规划、启动和观察语言模型的训练，适用于一张 GPU 放不下的长序列。

GPL-3.0-or-later。基于 Qt %2、LibTorch、yaml‑cpp 和 libssh。</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation>打开配置</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>looking at this machine…</source>
        <translation>正在检测本机…</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n 个核心</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation>
            <numerusform>%n 张 GPU</numerusform>
        </translation>
    </message>
    <message>
        <source>A run is at work</source>
        <translation>有运行正在进行</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) are still training.</source>
        <translation>
            <numerusform>%n 个运行仍在训练。</numerusform>
        </translation>
    </message>
    <message>
        <source>Left running, the training goes on without the window. Open it again under Runs.</source>
        <translation>若保持运行，关闭窗口后训练会继续，可在“运行”页重新打开。</translation>
    </message>
    <message>
        <source>Leave running</source>
        <translation>保持运行</translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation>停止并保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Not stopped</source>
        <translation>未能停止</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>节点</translation>
    </message>
    <message>
        <source>It is being started again already.</source>
        <translation>已经在重新启动。</translation>
    </message>
    <message>
        <source>Restarts end with this window</source>
        <translation>重启随本窗口结束</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) over several nodes would not be started again after a failure.</source>
        <translation>
            <numerusform>%n 个跨多节点的运行失败后将不再自动重启。</numerusform>
        </translation>
    </message>
    <message>
        <source>They go on without the window. One that fails meanwhile waits for Resume.</source>
        <translation>没有窗口它们也会继续；其间失败的运行等待“恢复”。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Commands…</source>
        <translation>命令…</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>试用</translation>
    </message>
    <message>
        <source>Alerts…</source>
        <translation>警报…</translation>
    </message>
    <message>
        <source>Follow a run on another machine…</source>
        <translation>跟踪另一台机器上的运行…</translation>
    </message>
</context>
<context>
    <name>ringmaster::MemoryCard</name>
    <message>
        <source>weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>工作区</translation>
    </message>
    <message>
        <source>logits</source>
        <translation>logits</translation>
    </message>
    <message>
        <source>communication</source>
        <translation>通信</translation>
    </message>
    <message>
        <source>runtime</source>
        <translation>运行时</translation>
    </message>
    <message>
        <source>Memory of the fullest rank</source>
        <translation>占用最多的 rank 的显存</translation>
    </message>
    <message>
        <source>Memory by component</source>
        <translation>各组成部分的显存</translation>
    </message>
    <message>
        <source>Legend of the memory</source>
        <translation>显存图例</translation>
    </message>
    <message>
        <source>sequence_len to try</source>
        <translation>试算的 sequence_len</translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>解决上面的问题之后才能得知。</translation>
    </message>
    <message>
        <source>The model&apos;s shape is not known here, so memory and time are not.</source>
        <translation>这里不知道模型的形状，因此显存和时间未知。</translation>
    </message>
    <message>
        <source>Longest that fits: %1 tokens</source>
        <translation>放得下的最大长度：%1 个 token</translation>
    </message>
    <message>
        <source>No length fits with this mesh and these options.</source>
        <translation>在当前网格和选项下，任何长度都放不下。</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>if sequence_len were %1</source>
        <translation>· 若 sequence_len 为 %1</translation>
    </message>
    <message>
        <source>low %1 · expected %2 · high %3</source>
        <translation>下限 %1 · 期望 %2 · 上限 %3</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>Apply %1</source>
        <translation>应用 %1</translation>
    </message>
    <message>
        <source>Writes into the text:</source>
        <translation>写入文本：</translation>
    </message>
    <message>
        <source>Host memory of a node</source>
        <translation>节点的主机内存</translation>
    </message>
    <message>
        <source>Disk of a node</source>
        <translation>节点的磁盘</translation>
    </message>
    <message>
        <source>offloaded</source>
        <translation>已卸载</translation>
    </message>
    <message>
        <source>processes</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>Host memory of a node: %1</source>
        <translation>节点的主机内存：%1</translation>
    </message>
    <message>
        <source>Disk of a node: %1</source>
        <translation>节点的磁盘：%1</translation>
    </message>
    <message>
        <source>Up to %1 tokens with %2</source>
        <extracomment>what allows the longest sequence; %1 is a number, %2 &quot;key: value&quot; or several of them</extracomment>
        <translation>改为 %2，最多可到 %1 个 token</translation>
    </message>
</context>
<context>
    <name>ringmaster::MeshView</name>
    <message>
        <source>Mesh</source>
        <translation>网格</translation>
    </message>
    <message numerus="yes">
        <source>%n group(s) of ranks that share a sequence</source>
        <translation>
            <numerusform>%n 组共享一条序列的 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 ranks on %2 nodes: %3, %4 ranks each</source>
        <translation>%2 个节点上的 %1 个 rank：%3，每组 %4 个 rank</translation>
    </message>
    <message>
        <source>node %1</source>
        <translation>节点 %1</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>ranks %1 to %2</source>
        <translation>rank %1 到 %2</translation>
    </message>
    <message>
        <source>%1 on node %2: dp_replicate %3, dp_shard %4, ring %5, ulysses %6</source>
        <translation>节点 %2 上的 %1：dp_replicate %3，dp_shard %4，环 %5，Ulysses %6</translation>
    </message>
</context>
<context>
    <name>ringmaster::MonitorPage</name>
    <message>
        <source>Monitor</source>
        <translation>监控</translation>
    </message>
    <message>
        <source>reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>Reading the run.</source>
        <translation>正在读取运行。</translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation>已保存：%1</translation>
    </message>
    <message>
        <source>This run cannot be shown</source>
        <translation>无法显示此运行</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n 个 rank</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hosts</source>
        <translation>
            <numerusform>%n 台主机</numerusform>
        </translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>第 %1 次尝试</translation>
    </message>
    <message>
        <source>%1 read</source>
        <translation>已读取 %1</translation>
    </message>
    <message>
        <source>step · %1 left</source>
        <extracomment>shown under the number of steps; %1 is a duration</extracomment>
        <translation>步 · 剩余 %1</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <extracomment>memory: %1 is the measured size, %2 the capacity</extracomment>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>duration · ended %1</source>
        <extracomment>caption of a duration; %1 is a time</extracomment>
        <translation>时长 · 结束于 %1</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>last heard</source>
        <translation>最近的消息</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) of its events make no sense and are left out.</source>
        <translation>
            <numerusform>有 %n 行事件无法理解，已略过。</numerusform>
        </translation>
    </message>
    <message>
        <source>Its plan cannot be read: no estimates.</source>
        <translation>无法读取它的计划：没有估算。</translation>
    </message>
    <message>
        <source>Show rank %1</source>
        <translation>显示 rank %1</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Figures (*.csv)</source>
        <translation>数据 (*.csv)</translation>
    </message>
    <message>
        <source>Export into an empty folder</source>
        <translation>导出到空文件夹</translation>
    </message>
    <message>
        <source>Exported: %1</source>
        <translation>已导出：%1</translation>
    </message>
    <message>
        <source>There are no runs yet</source>
        <translation>还没有运行</translation>
    </message>
    <message>
        <source>No run is open</source>
        <translation>没有打开的运行</translation>
    </message>
    <message>
        <source>Here a run shows its loss, its ranks and what holds them up, while it trains and afterwards.</source>
        <translation>训练期间和结束之后，这里显示运行的 loss、各 rank 以及拖慢它们的原因。</translation>
    </message>
    <message>
        <source>Choose a run</source>
        <translation>选择运行</translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation>停止并保存</translation>
    </message>
    <message>
        <source>Finish the step, save a checkpoint, end</source>
        <translation>完成这一步，保存检查点，然后结束</translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation>立即停止</translation>
    </message>
    <message>
        <source>End at once; what came after the last checkpoint is lost</source>
        <translation>马上结束；最近一个检查点之后的工作会丢失</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Go on from the newest complete checkpoint</source>
        <translation>从最新的完整检查点继续</translation>
    </message>
    <message>
        <source>All figures as CSV…</source>
        <translation>全部数据为 CSV…</translation>
    </message>
    <message>
        <source>TensorBoard files…</source>
        <translation>TensorBoard 文件…</translation>
    </message>
    <message>
        <source>Merged model…</source>
        <translation>合并后的模型…</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>loss</translation>
    </message>
    <message>
        <source>Hold the charts still; the run goes on (Space)</source>
        <translation>暂停绘制，不暂停运行（空格键）</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Moving average over the steps; what was measured stays behind it</source>
        <translation>按步的滑动平均；原始曲线留在后面</translation>
    </message>
    <message>
        <source>What the charts run along</source>
        <translation>各图的 x 轴</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Logarithmic</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>Logarithmic figures; 0 and below are drawn at the foot</source>
        <translation>y 轴用对数；0 及以下画在底部</translation>
    </message>
    <message>
        <source>Follow the end</source>
        <translation>跟随最新</translation>
    </message>
    <message>
        <source>Show the last steps only, and go with them</source>
        <translation>只显示最近的步，并随之移动</translation>
    </message>
    <message>
        <source>Show all steps</source>
        <translation>显示所有步</translation>
    </message>
    <message>
        <source>Undo the zoom (double click in a chart)</source>
        <translation>取消缩放（在图中双击）</translation>
    </message>
    <message>
        <source>X axis</source>
        <translation>X 轴</translation>
    </message>
    <message>
        <source>Nothing measured yet.</source>
        <translation>还没有实测数据。</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>各 rank</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>of all ranks by time, with the run&apos;s events</source>
        <translation>所有 rank，按时间，含运行的事件</translation>
    </message>
    <message>
        <source>disconnected</source>
        <translation>连接中断</translation>
    </message>
    <message>
        <source>Take out of the queue</source>
        <translation>移出队列</translation>
    </message>
    <message>
        <source>Not everything is heard just now.</source>
        <translation>目前有些内容听不到。</translation>
    </message>
    <message>
        <source>The run does not need the connection; it is tried again by itself.</source>
        <translation>运行不需要连接；会自动重试。</translation>
    </message>
    <message>
        <source>Reconnect</source>
        <translation>重新连接</translation>
    </message>
    <message>
        <source>Waiting in the queue.</source>
        <translation>正在队列中等待。</translation>
    </message>
    <message>
        <source>Not started again: %1</source>
        <translation>未重新启动：%1</translation>
    </message>
    <message>
        <source>It failed, and is started again.</source>
        <translation>运行失败，正在重新启动。</translation>
    </message>
    <message>
        <source>Leave it</source>
        <translation>保持现状</translation>
    </message>
    <message>
        <source>The trained model or a checkpoint, from the machine that it is on</source>
        <translation>从所在机器取回训练好的模型或检查点</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>试用</translation>
    </message>
    <message>
        <source>Let the trained model write, beside its base</source>
        <translation>让训练好的模型与基础模型并排写文本</translation>
    </message>
    <message>
        <source>queued</source>
        <extracomment>a run that waits in the queue: how long ago it came there</extracomment>
        <translation>加入队列</translation>
    </message>
    <message>
        <source>Nothing was measured.</source>
        <translation>没有实测数据。</translation>
    </message>
    <message>
        <source>tokens per second at the end</source>
        <translation>每秒 token 数（结束时）</translation>
    </message>
    <message>
        <source>tokens per second now</source>
        <translation>每秒 token 数（当前）</translation>
    </message>
    <message>
        <source>exposed communication at the end</source>
        <translation>未掩盖的通信（结束时）</translation>
    </message>
    <message>
        <source>Mean of the last %1 steps</source>
        <translation>最近 %1 步的平均值</translation>
    </message>
    <message>
        <source>Attach to a run…</source>
        <translation>连接到运行…</translation>
    </message>
    <message>
        <source>The queue stands still.</source>
        <translation>队列已停止。</translation>
    </message>
    <message>
        <source>The process that starts its runs is not running.</source>
        <translation>负责启动这些运行的进程已不在。</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>启动队列</translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation>连接到运行</translation>
    </message>
    <message>
        <source>Fetch…</source>
        <translation>取回…</translation>
    </message>
    <message>
        <source>tokens per second at the last step</source>
        <translation>每秒 token 数（最后一步）</translation>
    </message>
    <message>
        <source>exposed communication, mean now</source>
        <translation>未掩盖的通信（当前平均）</translation>
    </message>
    <message>
        <source>exposed communication at the last step</source>
        <translation>未掩盖的通信（最后一步）</translation>
    </message>
    <message>
        <source>tensors of the fullest rank · expected %1</source>
        <translation>占用最多的 rank 的张量 · 估算 %1</translation>
    </message>
    <message>
        <source>tensors of the fullest rank</source>
        <translation>占用最多的 rank 的张量</translation>
    </message>
    <message>
        <source>Mean of the ranks over the last %1 steps</source>
        <translation>各 rank 在最近 %1 步中的平均值</translation>
    </message>
    <message>
        <source>click a column to sort, a row to highlight it in the charts</source>
        <translation>点击列标题排序，点击行在图表中突出显示</translation>
    </message>
</context>
<context>
    <name>ringmaster::NodeDetails</name>
    <message>
        <source>Check again</source>
        <translation>重新检查</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Copy next step</source>
        <translation>复制处理建议</translation>
    </message>
    <message>
        <source>Forget this target; nothing on the machine changes</source>
        <translation>忘记此目标；机器上不会有任何改变</translation>
    </message>
    <message>
        <source>checked %1</source>
        <translation>检查于 %1</translation>
    </message>
    <message>
        <source>Key, login, system, GPUs and who uses them, memory, disk, clock and LibTorch are looked at in seconds; nothing is installed.</source>
        <translation>几秒内查看密钥、登录、系统、GPU 及其使用者、内存、磁盘、时钟和 LibTorch；不安装任何东西。</translation>
    </message>
    <message>
        <source>%1:</source>
        <extracomment>a state, followed by what was found: &quot;Ready: 32 cores, …&quot;</extracomment>
        <translation>%1：</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Install LibTorch</source>
        <translation>安装 LibTorch</translation>
    </message>
    <message>
        <source>Send LibTorch</source>
        <translation>发送 LibTorch</translation>
    </message>
    <message>
        <source>That machine downloads 2.8 GB from PyPI into a folder of ours there</source>
        <translation>那台机器从 PyPI 下载 2.8 GB 到我们在那里的文件夹</translation>
    </message>
    <message>
        <source>What the engine needs of this machine&apos;s LibTorch goes into a folder of ours there</source>
        <translation>引擎所需的本机 LibTorch 部分会放入我们在那里的文件夹</translation>
    </message>
</context>
<context>
    <name>ringmaster::NodesModel</name>
    <message>
        <source>Target</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存/内存</translation>
    </message>
    <message>
        <source>Checked</source>
        <extracomment>column: time since the check</extracomment>
        <translation>检查时间</translation>
    </message>
    <message>
        <source>What was found</source>
        <translation>检查结果</translation>
    </message>
</context>
<context>
    <name>ringmaster::NodesPage</name>
    <message>
        <source>Check all</source>
        <translation>全部检查</translation>
    </message>
    <message>
        <source>Cancel checks</source>
        <translation>取消检查</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>节点</translation>
    </message>
    <message>
        <source>Check every target (%1)</source>
        <translation>检查所有目标（%1）</translation>
    </message>
    <message>
        <source>Progress of the checks</source>
        <translation>检查进度</translation>
    </message>
    <message>
        <source>Targets</source>
        <translation>目标</translation>
    </message>
    <message numerus="yes">
        <source>%n target(s)</source>
        <translation>
            <numerusform>%n 个目标</numerusform>
        </translation>
    </message>
    <message>
        <source>checked %1 of %2</source>
        <extracomment>progress of checks, such as &quot;checked 5 of 32&quot;</extracomment>
        <translation>已检查 %1 / %2</translation>
    </message>
    <message>
        <source>Try out</source>
        <translation>试运行</translation>
    </message>
    <message>
        <source>Bring the engine to the machines over SSH that can train, run its self-test there and measure the links between them; the first is taken for the node of rank 0</source>
        <translation>把引擎送到可训练的 SSH 机器，在那里运行自检并测量它们之间的链路；第一台视为 rank 0 的节点</translation>
    </message>
    <message>
        <source>No machine over SSH is ready: add one, and check it.</source>
        <translation>还没有就绪的 SSH 机器：请添加并检查一台。</translation>
    </message>
</context>
<context>
    <name>ringmaster::NotesEditor</name>
    <message>
        <source>Tags, with commas between them</source>
        <translation>标签，用半角逗号分隔</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Notes about this run</source>
        <translation>关于此运行的备注</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Not saved yet</source>
        <translation>尚未保存</translation>
    </message>
    <message>
        <source>Saved in notes.json</source>
        <translation>已保存到 notes.json</translation>
    </message>
</context>
<context>
    <name>ringmaster::ParallelPlot</name>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Results of the sweep</source>
        <translation>参数扫描的结果</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) shown</source>
        <translation>
            <numerusform>显示 %n 个运行</numerusform>
        </translation>
    </message>
    <message>
        <source>Lowest loss: %1.</source>
        <translation>最低的 loss：%1。</translation>
    </message>
    <message>
        <source>Limited by %1.</source>
        <translation>按 %1 限定。</translation>
    </message>
    <message>
        <source>chosen run</source>
        <translation>选中的运行</translation>
    </message>
    <message>
        <source>not finished</source>
        <translation>未完成</translation>
    </message>
</context>
<context>
    <name>ringmaster::PlanBoard</name>
    <message>
        <source>Mesh</source>
        <translation>网格</translation>
    </message>
    <message>
        <source>Who holds which tokens</source>
        <translation>各 rank 持有哪些 token</translation>
    </message>
    <message>
        <source>A step</source>
        <translation>每步时间</translation>
    </message>
    <message>
        <source>Time of a step</source>
        <translation>每步时间</translation>
    </message>
    <message>
        <source>Legend of the time</source>
        <translation>时间图例</translation>
    </message>
    <message>
        <source>The product of the sizes is not the number of ranks.</source>
        <translation>各大小的乘积不等于 rank 数。</translation>
    </message>
    <message>
        <source>rings cross nodes</source>
        <translation>环跨节点</translation>
    </message>
    <message>
        <source>the busiest rank works %1 × the mean</source>
        <translation>最忙的为平均的 %1 倍</translation>
    </message>
    <message>
        <source>equal work</source>
        <translation>各 rank 的计算量相同</translation>
    </message>
    <message>
        <source>The time of a step is not known.</source>
        <translation>每步时间未知。</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>未掩盖的通信</translation>
    </message>
    <message>
        <source>waiting for offloaded data</source>
        <translation>等待卸载数据</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 token/s</translation>
    </message>
    <message>
        <source>From measured speeds.</source>
        <translation>基于实测速度。</translation>
    </message>
    <message>
        <source>From assumed speeds, until they are measured.</source>
        <translation>基于假定的速度，尚未实测。</translation>
    </message>
    <message>
        <source>Computation hides another %1 of communication.</source>
        <translation>另有 %1通信被计算掩盖。</translation>
    </message>
    <message>
        <source>Computation hides another %1 of copying offloaded data.</source>
        <translation>另有 %1卸载数据的复制被计算掩盖。</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>正在规划…</translation>
    </message>
    <message numerus="yes">
        <source>%n node(s) × %1</source>
        <translation>
            <numerusform>%n 个节点 × %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>解决上面的问题之后才能得知。</translation>
    </message>
</context>
<context>
    <name>ringmaster::PlanPage</name>
    <message>
        <source>Make it run…</source>
        <translation>使其能运行…</translation>
    </message>
    <message>
        <source>Show what would have to change in the file</source>
        <translation>显示文件需要做的改动</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Save as…</source>
        <translation>另存为…</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>No configuration is open</source>
        <translation>没有打开的配置</translation>
    </message>
    <message>
        <source>Open an axolotl YAML or drop it here. You see what it means on your GPUs before anything runs.</source>
        <translation>打开 axolotl 的 YAML，或把它拖到这里。运行之前就能看到它在您的 GPU 上会怎样。</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>试用示例</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>Save under another name</source>
        <translation>以其他名称保存</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Save the configuration</source>
        <translation>保存配置</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Edits are not saved</source>
        <translation>更改未保存</translation>
    </message>
    <message>
        <source>Save the changes to %1?</source>
        <translation>是否保存对 %1 的更改？</translation>
    </message>
    <message>
        <source>the unsaved copy</source>
        <translation>未保存的副本</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>放弃</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>The edits are saved before the launch.</source>
        <translation>启动前会先保存更改。</translation>
    </message>
    <message>
        <source>Save and launch</source>
        <translation>保存并启动</translation>
    </message>
    <message>
        <source>The file has changed on the disk.</source>
        <translation>磁盘上的文件已改动。</translation>
    </message>
    <message>
        <source>Reloading replaces your edits; undo brings them back.</source>
        <translation>重新加载会替换您的更改，可以撤销。</translation>
    </message>
    <message>
        <source>Reload</source>
        <translation>重新加载</translation>
    </message>
    <message>
        <source>Unsaved edits could not be kept: %1</source>
        <translation>无法保留未保存的更改：%1</translation>
    </message>
    <message>
        <source>an unsaved copy</source>
        <translation>未保存的副本</translation>
    </message>
    <message>
        <source>Edits were not saved.</source>
        <translation>有未保存的更改。</translation>
    </message>
    <message>
        <source>The app ended while %1 was edited (%2).</source>
        <translation>编辑 %1 时程序意外结束（%2）。</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>还原</translation>
    </message>
    <message>
        <source>Unsaved copy</source>
        <translation>未保存的副本</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>计划</translation>
    </message>
    <message>
        <source>edited</source>
        <translation>已编辑</translation>
    </message>
    <message>
        <source>Not planned yet</source>
        <translation>尚未规划</translation>
    </message>
    <message>
        <source>Launch on %1</source>
        <extracomment>%1 such as &quot;8 GPUs&quot;; &quot;elsewhere&quot;: on other machines, because this one lacks them</extracomment>
        <translation>在 %1 上启动</translation>
    </message>
    <message>
        <source>Prepare and start the training</source>
        <translation>准备并开始训练</translation>
    </message>
    <message>
        <source>An accelerate file alone can be planned, not launched.</source>
        <translation>只有 accelerate 文件时可以规划，不能启动。</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>数据行</translation>
    </message>
    <message>
        <source>Show the rows as the model sees them, before anything is trained</source>
        <translation>在训练之前，显示模型所看到的数据行</translation>
    </message>
    <message>
        <source>Launch on %1 elsewhere…</source>
        <translation>在其他机器的 %1 上启动…</translation>
    </message>
</context>
<context>
    <name>ringmaster::Plot</name>
    <message>
        <source>0 and below lie at the foot</source>
        <translation>0 及以下在底部</translation>
    </message>
</context>
<context>
    <name>ringmaster::PreviewPanel</name>
    <message>
        <source>Exactly what is started</source>
        <translation>将要执行的内容</translation>
    </message>
    <message>
        <source>This cannot be launched.</source>
        <translation>无法这样启动。</translation>
    </message>
    <message>
        <source>Show again</source>
        <translation>重新显示</translation>
    </message>
    <message>
        <source>Connect and show</source>
        <translation>连接并显示</translation>
    </message>
    <message>
        <source>The machines are asked before it can be shown.</source>
        <translation>显示之前需要先询问各机器。</translation>
    </message>
    <message>
        <source>connecting…</source>
        <translation>正在连接…</translation>
    </message>
    <message>
        <source>planning…</source>
        <translation>正在规划…</translation>
    </message>
    <message>
        <source>Nothing can be started yet.</source>
        <translation>现在还不能启动。</translation>
    </message>
</context>
<context>
    <name>ringmaster::ProblemList</name>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n 个错误</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n warning(s)</source>
        <translation>
            <numerusform>%n 个警告</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n note(s)</source>
        <translation>
            <numerusform>%n 条信息</numerusform>
        </translation>
    </message>
    <message>
        <source>No problems</source>
        <translation>没有问题</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>信息</translation>
    </message>
    <message>
        <source>Rename to %1</source>
        <translation>改名为 %1</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>删除 %1</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>What this code means, with an example</source>
        <translation>此代码的含义和例子</translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation>第 %1 行：%2</translation>
    </message>
    <message>
        <source>Explain %1</source>
        <translation>解释 %1</translation>
    </message>
    <message>
        <source>Changes the text; undo takes it back</source>
        <translation>修改文本，可以撤销</translation>
    </message>
</context>
<context>
    <name>ringmaster::PromptDialog</name>
    <message>
        <source>Log in to %1</source>
        <extracomment>%1 is a machine</extracomment>
        <translation>登录 %1</translation>
    </message>
    <message>
        <source>Asked again.</source>
        <translation>请重新输入。</translation>
    </message>
    <message>
        <source>The last answer was not accepted.</source>
        <translation>上次输入的内容未被接受。</translation>
    </message>
    <message>
        <source>The answer goes only to that machine. It is not stored.</source>
        <translation>输入的内容只发送给该机器，不会保存。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>提交</translation>
    </message>
    <message>
        <source>Your password on %1</source>
        <translation>%1 上的密码</translation>
    </message>
    <message>
        <source>Password of %1 on %2</source>
        <translation>%1 在 %2 上的密码</translation>
    </message>
    <message>
        <source>Passphrase of the key %1, which stays on this machine</source>
        <translation>密钥 %1 的口令（不会离开本机）</translation>
    </message>
    <message>
        <source>%1 asks, in its own words:</source>
        <translation>%1 询问（原文）：</translation>
    </message>
    <message>
        <source>Answer to %1</source>
        <translation>对 %1 的回答</translation>
    </message>
</context>
<context>
    <name>ringmaster::PublishDialog</name>
    <message>
        <source>Private</source>
        <translation>仅自己可见</translation>
    </message>
    <message>
        <source>Upload to the Hugging Face hub</source>
        <translation>上传到 Hugging Face Hub</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>仓库</translation>
    </message>
    <message>
        <source>owner/%1</source>
        <translation>所有者/%1</translation>
    </message>
    <message>
        <source>A repository that is made is private</source>
        <translation>新建的仓库是私有的</translation>
    </message>
    <message>
        <source>The hub&apos;s own client uploads the model&apos;s folder, with your login. A card goes with it: figures, loss, data, proof and configuration, without secrets. An existing README.md is kept.</source>
        <translation>将由 Hub 官方客户端以您的账号上传模型文件夹，并附上一份模型卡：指标、loss、数据、网格验证结果和配置，不含密钥等敏感信息。已有的 README.md 会保留。</translation>
    </message>
    <message>
        <source>The hub&apos;s own client uploads the folder, with your login.</source>
        <translation>将由 Hub 官方客户端以您的账号上传该文件夹。</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>上传</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Name a repository to upload to: owner/name.</source>
        <translation>请填写要上传到的仓库：所有者/名称。</translation>
    </message>
</context>
<context>
    <name>ringmaster::QueueDialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Add to the queue</source>
        <translation>加入队列</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>the file&apos;s name and the date</source>
        <translation>文件名和日期</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>参数扫描</translation>
    </message>
    <message>
        <source>The configuration and its rows are kept as they are now. With a key and its values on each line of the sweep, one run is queued for each combination.</source>
        <translation>配置和数据行按现在的内容保留。在参数扫描的每一行写一个键的各个值，每种组合会有一次运行排入队列。</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Choose a configuration</source>
        <translation>选择配置</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>Planning the runs</source>
        <translation>正在规划运行</translation>
    </message>
    <message>
        <source>It was not queued.</source>
        <translation>未能加入队列。</translation>
    </message>
    <message>
        <source>The line “%1” of the sweep cannot be used.</source>
        <translation>参数扫描的“%1”这一行无法使用。</translation>
    </message>
    <message>
        <source>Write a key and its values, such as %1.</source>
        <translation>请写出键及其值，例如 %1。</translation>
    </message>
    <message>
        <source>Choose a configuration to add it.</source>
        <translation>请选择要加入的配置。</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n 个运行</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::QueuePage</name>
    <message>
        <source>Add…</source>
        <translation>添加…</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>提前</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>推后</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Open in Monitor</source>
        <translation>在监控中打开</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Queue a configuration, or a sweep of it</source>
        <translation>让一份配置或它的参数扫描排队</translation>
    </message>
    <message>
        <source>Nothing is queued</source>
        <translation>队列为空</translation>
    </message>
    <message>
        <source>Runs wait here for their turn and start by themselves, one after the other, even when this window is closed.</source>
        <translation>运行在这里等待，依次自动开始，关闭此窗口也不受影响。</translation>
    </message>
    <message>
        <source>Add a configuration…</source>
        <translation>添加配置…</translation>
    </message>
    <message>
        <source>Move the run to an earlier place (Alt and the up arrow, or drag it)</source>
        <translation>把运行移到前面（Alt 加上箭头，或拖动）</translation>
    </message>
    <message>
        <source>Move the run to a later place (Alt and the down arrow, or drag it)</source>
        <translation>把运行移到后面（Alt 加下箭头，或拖动）</translation>
    </message>
    <message>
        <source>Take the run off the queue; its directory stays (Delete)</source>
        <translation>把运行移出队列；其目录保留（Delete）</translation>
    </message>
    <message>
        <source>Runs at a time</source>
        <translation>同时运行数</translation>
    </message>
    <message>
        <source>How many runs may train at the same time; a run on GPUs always has the machine to itself</source>
        <translation>同时可以训练的运行数；使用 GPU 的运行总是独占机器</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>执行顺序</translation>
    </message>
    <message>
        <source>drag a row to another place; a sweep&apos;s keys have columns of their own</source>
        <translation>拖动一行可以改变顺序；参数扫描的键各占一列</translation>
    </message>
    <message>
        <source>The queue cannot be read.</source>
        <translation>无法读取队列。</translation>
    </message>
    <message>
        <source>Results of the sweep</source>
        <translation>参数扫描的结果</translation>
    </message>
    <message>
        <source>a line for each run; drag along an axis to keep only some</source>
        <translation>每个运行一条线；沿轴拖动可只保留一部分</translation>
    </message>
    <message>
        <source>The queue stands still.</source>
        <translation>队列已停止。</translation>
    </message>
    <message>
        <source>The process that starts its runs is not running.</source>
        <translation>负责启动这些运行的进程已不在。</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>启动队列</translation>
    </message>
    <message>
        <source>the next one is being started</source>
        <translation>正在启动下一个</translation>
    </message>
    <message>
        <source>%1 running</source>
        <translation>%1 个运行中</translation>
    </message>
    <message>
        <source>%1 waiting</source>
        <translation>%1 个排队中</translation>
    </message>
</context>
<context>
    <name>ringmaster::QueueTable</name>
    <message>
        <source>Runs of the queue, in their order</source>
        <translation>队列中的运行，按顺序</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>here</source>
        <extracomment>where a run of the queue trains: on this machine</extracomment>
        <translation>本机</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>位置</translation>
    </message>
</context>
<context>
    <name>ringmaster::RankTableModel</name>
    <message>
        <source>%1 at the peak; the plan expects %2</source>
        <translation>峰值 %1；计划估算 %2</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>Host</source>
        <translation>主机</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Mesh</source>
        <extracomment>column: a rank&apos;s coordinates in the mesh</extracomment>
        <translation>网格</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Step time</source>
        <extracomment>column: seconds per step</extracomment>
        <translation>每步时间</translation>
    </message>
    <message>
        <source>Wait</source>
        <extracomment>column: time per step in which the rank waits for others</extracomment>
        <translation>等待</translation>
    </message>
    <message>
        <source>Comm.</source>
        <extracomment>column: communication time per step</extracomment>
        <translation>通信</translation>
    </message>
    <message>
        <source>Exposed</source>
        <extracomment>column: communication that computation does not hide, as a share of the step</extracomment>
        <translation>未掩盖</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Heard</source>
        <extracomment>column: time since the rank last wrote something</extracomment>
        <translation>最近消息</translation>
    </message>
    <message>
        <source>Number of the rank</source>
        <translation>rank 的编号</translation>
    </message>
    <message>
        <source>Host it runs on</source>
        <translation>它所在的主机</translation>
    </message>
    <message>
        <source>Device it trains on</source>
        <translation>它训练所用的设备</translation>
    </message>
    <message>
        <source>Its place in the mesh</source>
        <translation>它在网格中的位置</translation>
    </message>
    <message>
        <source>Last step that it finished</source>
        <translation>它完成的最后一步</translation>
    </message>
    <message>
        <source>Mean loss over its own labels</source>
        <translation>它自己的标签的平均 loss</translation>
    </message>
    <message>
        <source>Time of a step, median of the last 10</source>
        <translation>每步时间，最近 10 步的中位数</translation>
    </message>
    <message>
        <source>Exposed communication of a step: it waits for others, or for the network</source>
        <translation>一步中未掩盖的通信：等待其他 rank 或网络</translation>
    </message>
    <message>
        <source>Time in which its collectives were in flight</source>
        <translation>它的集合通信进行中的时间</translation>
    </message>
    <message>
        <source>Exposed communication as a share of the step</source>
        <translation>未掩盖的通信占一步的比例</translation>
    </message>
    <message>
        <source>Tensors at the highest peak of its steps</source>
        <translation>它各步中最高的张量峰值</translation>
    </message>
    <message>
        <source>When something was last heard of it</source>
        <translation>距离它最近的消息有多久</translation>
    </message>
    <message>
        <source>replica %1</source>
        <extracomment>position of a rank among the groups that each hold a copy of the weights</extracomment>
        <translation>副本 %1</translation>
    </message>
    <message>
        <source>shard %1</source>
        <extracomment>position of a rank among those that each hold a part of the weights</extracomment>
        <translation>分片 %1</translation>
    </message>
    <message>
        <source>ring %1</source>
        <extracomment>position of a rank in the ring that passes keys and values round</extracomment>
        <translation>环 %1</translation>
    </message>
    <message>
        <source>ulysses %1</source>
        <extracomment>position of a rank among those that split the heads; Ulysses is a name</extracomment>
        <translation>Ulysses %1</translation>
    </message>
    <message>
        <source>data parallel %1</source>
        <extracomment>position of a rank among those that each hold all weights</extracomment>
        <translation>数据并行 %1</translation>
    </message>
</context>
<context>
    <name>ringmaster::RecentRunsModel</name>
    <message>
        <source>waiting for %1</source>
        <extracomment>a run waits in the queue; %1 is a duration</extracomment>
        <translation>已排队 %1</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>第 %1 步，共 %2 步</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>loss %1</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <extracomment>%1 is a run&apos;s last state, %2 is a date, or text such as &quot;3 min ago&quot;</extracomment>
        <translation>%1 %2</translation>
    </message>
</context>
<context>
    <name>ringmaster::RowList</name>
    <message>
        <source>Rows</source>
        <translation>数据行</translation>
    </message>
    <message>
        <source>Row %1 of %2</source>
        <translation>第 %1 行，共 %2 行</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>token</translation>
    </message>
    <message>
        <source>Row</source>
        <translation>行号</translation>
    </message>
</context>
<context>
    <name>ringmaster::RowText</name>
    <message>
        <source>Chosen</source>
        <extracomment>the better one of two answers to a question, which is trained to become more likely</extracomment>
        <translation>选中</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>Text of the chosen row</source>
        <translation>所选行的文本</translation>
    </message>
    <message>
        <source>… and %1 more tokens</source>
        <translation>…… 还有 %1 个 token</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunActions</name>
    <message numerus="yes">
        <source>%1 with %n checkpoint(s)</source>
        <extracomment>%1 is a size such as 12 GiB</extracomment>
        <translation>
            <numerusform>%1，含 %n 个检查点</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is not there any more.</source>
        <translation>%1 已不存在。</translation>
    </message>
    <message>
        <source>No program here opens folders: %1</source>
        <translation>没有可以打开文件夹的程序：%1</translation>
    </message>
    <message>
        <source>Save diagnostics</source>
        <translation>保存诊断信息</translation>
    </message>
    <message>
        <source>Archive (*.tar.gz)</source>
        <translation>归档 (*.tar.gz)</translation>
    </message>
    <message>
        <source>Export as CSV</source>
        <translation>导出为 CSV</translation>
    </message>
    <message>
        <source>Table (*.csv)</source>
        <translation>表格 (*.csv)</translation>
    </message>
    <message>
        <source>Export for TensorBoard, into a new folder</source>
        <translation>导出为 TensorBoard，到新文件夹</translation>
    </message>
    <message>
        <source>Saved %1. Look through it before you pass it on.</source>
        <translation>已保存 %1。转交他人之前请先查看内容。</translation>
    </message>
    <message>
        <source>Saved %1: %2 rows.</source>
        <translation>已保存 %1：%2 行。</translation>
    </message>
    <message>
        <source>Saved %1: %2 values.</source>
        <translation>已保存 %1：%2 个值。</translation>
    </message>
    <message>
        <source>Delete runs</source>
        <translation>删除运行</translation>
    </message>
    <message numerus="yes">
        <source>Delete %n run(s)?</source>
        <translation>
            <numerusform>删除 %n 个运行？</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Deleted %1.</source>
        <translation>已删除 %1。</translation>
    </message>
    <message numerus="yes">
        <source>Deleted %n run(s).</source>
        <translation>
            <numerusform>已删除 %n 个运行。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Lost for good: %1, the curves, logs and notes. The trained model(s) in the output folder(s) stay.</source>
        <translation>
            <numerusform>将永久丢失曲线、日志和备注（%1）。输出文件夹中训练好的模型会保留。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::RunKeeper</name>
    <message>
        <source>it was called off</source>
        <translation>已取消</translation>
    </message>
    <message>
        <source>restart %1 of %2</source>
        <extracomment>a run that failed is restarted; %1 and %2 are numbers</extracomment>
        <translation>第 %1 次重启，共 %2 次</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsModel</name>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Best loss</source>
        <translation>最低 loss</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>token/s</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>显存峰值</translation>
    </message>
    <message>
        <source>Estimated</source>
        <translation>显存估算</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Mesh</source>
        <translation>网格</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>长度</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>开始时间</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Completed optimizer steps, and how many there will be</source>
        <translation>已完成的优化器步数和总步数</translation>
    </message>
    <message>
        <source>Loss of the last step, over the whole global batch</source>
        <translation>最后一步的 loss，对整个全局批次</translation>
    </message>
    <message>
        <source>Lowest loss of a step; in a long run the lowest of those looked at</source>
        <translation>各步 loss 的最低值；运行很长时，为所查看各步的最低值</translation>
    </message>
    <message>
        <source>Tokens per second over the steps looked at, saving and evaluation not counted</source>
        <translation>所查看各步的每秒 token 数，不计保存和评估</translation>
    </message>
    <message>
        <source>Highest memory among the steps looked at, on the fullest rank</source>
        <translation>已查看的步中最高的显存，取占用最多的 rank</translation>
    </message>
    <message>
        <source>How the ranks are arranged</source>
        <translation>rank 如何分组</translation>
    </message>
    <message>
        <source>Tokens of one sequence</source>
        <translation>一条序列的 token 数</translation>
    </message>
    <message>
        <source>Rows of one optimizer step, over all ranks</source>
        <translation>一个优化器步的行数，所有 rank 合计</translation>
    </message>
    <message>
        <source>The run is long: the lowest of the steps looked at</source>
        <translation>运行很长：所查看各步的最低值</translation>
    </message>
    <message>
        <source>Tensors of the fullest rank as the plan expected them, without what the runtime takes</source>
        <translation>计划预计的最满 rank 的张量，不含运行时占用</translation>
    </message>
    <message>
        <source>How long its attempts ran, all together</source>
        <translation>所有尝试的总运行时间</translation>
    </message>
    <message>
        <source>Exposed</source>
        <translation>未掩盖</translation>
    </message>
    <message>
        <source>Exposed communication: the share of a step that computation did not hide. Mean of the ranks; in a long run, over their last steps</source>
        <translation>未掩盖的通信：每步中未被计算掩盖的占比。各 rank 的平均值；运行较长时取最近几步</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsPage</name>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>No runs yet</source>
        <translation>还没有运行</translation>
    </message>
    <message>
        <source>What you launch appears here with what mattered: loss, tokens per second, memory and why it ended.</source>
        <translation>您启动的运行会列在这里，并附上要点：loss、每秒 token 数、显存和结束的原因。</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>试用示例</translation>
    </message>
    <message>
        <source>Open a configuration…</source>
        <translation>打开配置…</translation>
    </message>
    <message>
        <source>No run matches</source>
        <translation>没有匹配的运行</translation>
    </message>
    <message>
        <source>Looked for in names, models, states, tags, notes and reasons.</source>
        <translation>已在名称、模型、状态、标签、备注和原因中查找。</translation>
    </message>
    <message>
        <source>Show all runs</source>
        <translation>显示所有运行</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Search the runs</source>
        <translation>搜索运行</translation>
    </message>
    <message>
        <source>Search the runs (%1)</source>
        <translation>搜索运行 (%1)</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>列</translation>
    </message>
    <message>
        <source>Choose columns</source>
        <translation>选择列</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n 个运行</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2 found</source>
        <translation>找到 %1 个，共 %2 个</translation>
    </message>
    <message numerus="yes">
        <source>Compare %n run(s)</source>
        <translation>
            <numerusform>比较 %n 个运行</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose two to eight runs: Ctrl or Shift and a click, or Shift and an arrow key</source>
        <translation>选择两到八个运行：按住 Ctrl 或 Shift 点击，或按 Shift 加方向键</translation>
    </message>
    <message>
        <source>That did not work.</source>
        <translation>操作未成功。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>From another machine…</source>
        <translation>跟踪其他机器…</translation>
    </message>
    <message>
        <source>Follow a run on another machine…</source>
        <translation>跟踪另一台机器上的运行…</translation>
    </message>
    <message>
        <source>%1 running</source>
        <translation>%1 个运行中</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsTable</name>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
</context>
<context>
    <name>ringmaster::SamplesCard</name>
    <message>
        <source>no sample</source>
        <translation>没有样本</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>Step of the samples on the left</source>
        <translation>左侧样本的步骤</translation>
    </message>
    <message>
        <source>Step of the samples on the right</source>
        <translation>右侧样本的步骤</translation>
    </message>
    <message>
        <source>Show the samples of another step</source>
        <translation>显示其他步骤的样本</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>after step %1</source>
        <translation>第 %1 步之后</translation>
    </message>
    <message>
        <source>Write now</source>
        <translation>立即生成</translation>
    </message>
    <message>
        <source>what the model writes while it trains</source>
        <translation>模型在训练期间写出的文本</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <source>A prompt that the model continues after its present step</source>
        <translation>输入提示词，模型会在当前步结束后续写</translation>
    </message>
    <message>
        <source>Asked. The run answers after its present step.</source>
        <translation>已提问。运行会在当前步骤结束后回答。</translation>
    </message>
    <message>
        <source>cut at the token limit</source>
        <translation>达到 token 上限，已截断</translation>
    </message>
    <message>
        <source>No samples yet. Type a prompt below, or name some in the configuration under sample_prompts.</source>
        <translation>还没有样本。请在下方输入提示词，或在配置的 sample_prompts 中列出。</translation>
    </message>
</context>
<context>
    <name>ringmaster::SequenceView</name>
    <message>
        <source>every rank holds whole sequences</source>
        <translation>每个 rank 持有完整的序列</translation>
    </message>
    <message>
        <source>Who holds which tokens</source>
        <translation>各 rank 持有哪些 token</translation>
    </message>
    <message>
        <source>Nothing is planned yet</source>
        <translation>尚未规划</translation>
    </message>
    <message>
        <source>The length of a sequence is not known.</source>
        <translation>序列长度未知。</translation>
    </message>
    <message>
        <source>Where the tokens lie depends on the documents of each row.</source>
        <translation>token 的位置取决于每行中的文档。</translation>
    </message>
    <message>
        <source>rank %1: %2 of the busiest rank&apos;s attention work</source>
        <translation>rank %1：注意力计算量为最忙的 rank 的 %2 倍</translation>
    </message>
    <message>
        <source>attention work of each rank</source>
        <translation>各 rank 的注意力计算量</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>token %1: rank %2, which holds %3 tokens</source>
        <translation>token %1：rank %2，持有 %3 个 token</translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>解决上面的问题之后才能得知。</translation>
    </message>
</context>
<context>
    <name>ringmaster::ServiceSwitch</name>
    <message>
        <source>Go on by itself after a restart of the machine</source>
        <translation>机器重启后自动继续</translation>
    </message>
    <message>
        <source>A user service of systemd; in a terminal: %1</source>
        <translation>systemd 的用户服务；在终端中：%1</translation>
    </message>
    <message>
        <source>The service begins when you log in, and runs that it has started end when you log out. To start it at boot and keep its runs: %1</source>
        <translation>服务在您登录时启动，由它启动的运行在您注销时结束。要让它在开机时启动并保留这些运行：%1</translation>
    </message>
    <message>
        <source>The service could not be switched on.</source>
        <translation>无法开启服务。</translation>
    </message>
    <message>
        <source>The service could not be switched off.</source>
        <translation>无法关闭服务。</translation>
    </message>
    <message>
        <source>Nothing was changed. After a restart of the machine, open Ringmaster once: the queue then goes on.</source>
        <translation>没有做任何更改。机器重启后打开一次 Ringmaster，队列就会继续。</translation>
    </message>
</context>
<context>
    <name>ringmaster::SlurmFields</name>
    <message>
        <source>on this machine</source>
        <translation>在本机</translation>
    </message>
    <message>
        <source>through %1</source>
        <translation>通过 %1</translation>
    </message>
    <message>
        <source>the cluster&apos;s default</source>
        <translation>集群默认</translation>
    </message>
    <message>
        <source>as planned</source>
        <translation>按计划</translation>
    </message>
    <message>
        <source>Submitted</source>
        <translation>提交位置</translation>
    </message>
    <message>
        <source>Partition</source>
        <translation>分区</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>节点数</translation>
    </message>
    <message>
        <source>Account</source>
        <translation>账户</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时限</translation>
    </message>
    <message>
        <source>GPUs of a node (gres)</source>
        <translation>每节点 GPU（gres）</translation>
    </message>
    <message>
        <source>More sbatch options, one a line</source>
        <translation>其他 sbatch 选项，每行一个</translation>
    </message>
    <message>
        <source>Any other long option of sbatch, key=value, one a line</source>
        <translation>sbatch 的任何其他长选项，key=value，每行一个</translation>
    </message>
    <message>
        <source>your default account</source>
        <translation>您的默认账户</translation>
    </message>
</context>
<context>
    <name>ringmaster::StartPage</name>
    <message>
        <source>No runs yet. What you launch appears here, and stays when the window is closed.</source>
        <translation>还没有运行。您启动的运行会列在这里，关闭窗口后仍会保留。</translation>
    </message>
    <message>
        <source>No file yet. Configurations that you open are listed here.</source>
        <translation>还没有文件。您打开的配置会列在这里。</translation>
    </message>
    <message>
        <source>Drop a configuration (YAML) to plan it, or a run&apos;s folder to watch it.</source>
        <translation>拖入配置（YAML）即可规划，拖入运行目录即可观察。</translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation>打开配置</translation>
    </message>
    <message>
        <source>An axolotl YAML: see what it needs before anything runs. Or drop the file here.</source>
        <translation>axolotl 的 YAML：运行之前就能看到它需要什么。也可以把文件拖到这里。</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>试用示例</translation>
    </message>
    <message>
        <source>A small model that learns to write Python, on this machine, in minutes.</source>
        <translation>一个学写 Python 的小模型，就在本机上，几分钟即可。</translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation>连接到运行</translation>
    </message>
    <message>
        <source>Watch one that is at work, or look through one that is over.</source>
        <translation>观察正在进行的运行，或查看已结束的运行。</translation>
    </message>
    <message>
        <source>Recent runs</source>
        <translation>最近的运行</translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation>最近的文件</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>打开 %1</translation>
    </message>
    <message>
        <source>%1 is not a run&apos;s folder: it has no run.json.</source>
        <translation>%1 不是运行目录：其中没有 run.json。</translation>
    </message>
</context>
<context>
    <name>ringmaster::StartedRun</name>
    <message>
        <source>ranks</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>The ranks&apos; logs are in Monitor.</source>
        <translation>各 rank 的日志见“监控”页。</translation>
    </message>
</context>
<context>
    <name>ringmaster::Stepper</name>
    <message>
        <source>%1: done</source>
        <translation>%1：已完成</translation>
    </message>
    <message>
        <source>%1: failed</source>
        <translation>%1：已失败</translation>
    </message>
    <message>
        <source>%1: at work</source>
        <translation>%1：进行中</translation>
    </message>
    <message>
        <source>%1: still to come</source>
        <translation>%1：未开始</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <extracomment>progress of a step: %1 is the step, %2 the part done, %3 the whole</extracomment>
        <translation>%1：%2 / %3</translation>
    </message>
</context>
<context>
    <name>ringmaster::TopologyBar</name>
    <message>
        <source>Ranks in total, one for each GPU</source>
        <translation>rank 总数，每张 GPU 一个</translation>
    </message>
    <message>
        <source>Machines that the ranks are spread over</source>
        <translation>rank 分布在几台机器上</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>What the ranks run on</source>
        <translation>rank 运行在什么设备上</translation>
    </message>
    <message>
        <source>Memory of one device</source>
        <translation>一个设备的显存</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>rank 数</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>节点数</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Device memory</source>
        <translation>设备显存</translation>
    </message>
    <message>
        <source>accelerate file</source>
        <translation>accelerate 文件</translation>
    </message>
    <message>
        <source>auto (%1)</source>
        <extracomment>the program&apos;s automatic choice and its result, such as &quot;auto (8)&quot;</extracomment>
        <translation>自动（%1）</translation>
    </message>
    <message>
        <source>None…</source>
        <translation>未选择…</translation>
    </message>
    <message>
        <source>Take parallel sizes from an accelerate YAML</source>
        <translation>从 accelerate 的 YAML 读取并行大小</translation>
    </message>
    <message>
        <source>%1 overrides the sizes of the text. Press to leave it out.</source>
        <translation>%1 覆盖文本中的大小。点击可移除。</translation>
    </message>
    <message>
        <source>Open an accelerate file</source>
        <translation>打开 accelerate 文件</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
</context>
<context>
    <name>ringmaster::TrustDialog</name>
    <message>
        <source>Is this really %1?</source>
        <translation>这真的是 %1 吗？</translation>
    </message>
    <message>
        <source>It shows a host key that is not known on this machine. If the key is not its own, someone may be intercepting the connection. Nothing has been sent to it yet.</source>
        <translation>本机不认识它出示的主机密钥。如果这不是它的密钥，可能有人正在拦截连接。尚未向它发送任何内容。</translation>
    </message>
    <message>
        <source>Fingerprint</source>
        <translation>指纹</translation>
    </message>
    <message>
        <source>Type of key</source>
        <translation>密钥类型</translation>
    </message>
    <message>
        <source>Remembered in</source>
        <translation>记录于</translation>
    </message>
    <message>
        <source>Ask whoever runs the machine, or compare it with what this command prints there:</source>
        <translation>请询问该机器的管理员，或与在该机器上运行此命令的输出核对：</translation>
    </message>
    <message>
        <source>Do not trust it</source>
        <translation>不信任</translation>
    </message>
    <message>
        <source>Trust and remember</source>
        <translation>信任并记住</translation>
    </message>
</context>
<context>
    <name>ringmaster::TryPage</name>
    <message>
        <source>Another model</source>
        <translation>其他模型</translation>
    </message>
    <message>
        <source>Merge…</source>
        <translation>合并…</translation>
    </message>
    <message>
        <source>Show the run</source>
        <translation>显示运行</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>试用</translation>
    </message>
    <message>
        <source>Add the adapter to its base model&apos;s weights, and write a whole model</source>
        <translation>把适配器加到基础模型的权重上，写出完整的模型</translation>
    </message>
    <message>
        <source>No model is chosen</source>
        <translation>未选择模型</translation>
    </message>
    <message>
        <source>Choose a run that has completed, or the folder of a model or an adapter. It continues your prompts here, beside its base model.</source>
        <translation>请选择已完成的运行，或模型、适配器的文件夹。它会在这里续写您的提示词，与基础模型并排显示。</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>选择模型</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <source>A text that the model continues, or a question</source>
        <translation>由模型续写的文本，或一个问题</translation>
    </message>
    <message>
        <source>As a chat message</source>
        <translation>作为对话消息</translation>
    </message>
    <message>
        <source>The chat template asks for the answer; without it, the model continues the text</source>
        <translation>用对话模板请求回答；否则模型续写文本</translation>
    </message>
    <message>
        <source>Beside the base model</source>
        <translation>与基础模型并排</translation>
    </message>
    <message>
        <source>Generate</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>Generate (%1)</source>
        <translation>生成（%1）</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Max tokens</source>
        <translation>最多 token 数</translation>
    </message>
    <message>
        <source>Ends each text there</source>
        <translation>每段文本到此为止</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>0 takes the most probable token each time; higher values draw less probable ones</source>
        <translation>0 表示每次取概率最高的 token；值越大，越会抽取概率较低的</translation>
    </message>
    <message>
        <source>Top k</source>
        <translation>Top k</translation>
    </message>
    <message>
        <source>Draws among this many most probable tokens</source>
        <translation>在概率最高的这么多个 token 中抽取</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Top p</source>
        <translation>Top p</translation>
    </message>
    <message>
        <source>Draws among the most probable tokens that together have this probability</source>
        <translation>在合计达到此概率的最可能的 token 中抽取</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>The same seed draws the same tokens</source>
        <translation>相同的种子抽到相同的 token</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Where the model runs</source>
        <translation>模型运行的位置</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>清空</translation>
    </message>
    <message>
        <source>Remove the answers from this page</source>
        <translation>从此页移除回答</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>What the models write appears here, the newest first.</source>
        <translation>模型写出的文本显示在这里，最新的在最前。</translation>
    </message>
    <message>
        <source>No run has completed yet</source>
        <translation>还没有已完成的运行</translation>
    </message>
    <message>
        <source>A model&apos;s or an adapter&apos;s folder…</source>
        <translation>模型或适配器的文件夹…</translation>
    </message>
    <message>
        <source>Choose the folder of a model or an adapter</source>
        <translation>选择模型或适配器的文件夹</translation>
    </message>
    <message>
        <source>This model cannot be tried.</source>
        <translation>无法试用此模型。</translation>
    </message>
    <message>
        <source>The base model answers first</source>
        <translation>基础模型先回答</translation>
    </message>
    <message>
        <source>This folder names no base model to compare with</source>
        <translation>此文件夹没有指明可供比较的基础模型</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation>%1：%2 / %3</translation>
    </message>
    <message>
        <source>The merged model is in %1.</source>
        <translation>合并后的模型在 %1。</translation>
    </message>
    <message>
        <source>Try the merged model</source>
        <translation>试用合并后的模型</translation>
    </message>
    <message>
        <source>The model is not merged.</source>
        <translation>模型未合并。</translation>
    </message>
    <message>
        <source>Nothing was generated.</source>
        <translation>没有生成任何内容。</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>已停止。</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>正在加载模型</translation>
    </message>
    <message>
        <source>The base model</source>
        <translation>基础模型</translation>
    </message>
    <message>
        <source>The trained model</source>
        <translation>训练后的模型</translation>
    </message>
    <message numerus="yes">
        <source>%1 writes: %n token(s)</source>
        <extracomment>%1 is &quot;The base model&quot; or &quot;The trained model&quot;</extracomment>
        <translation>
            <numerusform>%1正在写：%n 个 token</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 wrote %2 tokens per second.</source>
        <translation>%1每秒写出 %2 个 token。</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Write the merged model into a new folder</source>
        <translation>把合并后的模型写入新文件夹</translation>
    </message>
    <message>
        <source>Merging the adapter into its base</source>
        <translation>正在把适配器合并到基础模型</translation>
    </message>
    <message>
        <source>Base</source>
        <translation>基础</translation>
    </message>
    <message>
        <source>Trained</source>
        <translation>训练后</translation>
    </message>
    <message>
        <source>Publish</source>
        <translation>发布</translation>
    </message>
    <message>
        <source>Upload to the Hugging Face hub…</source>
        <translation>上传到 Hugging Face Hub…</translation>
    </message>
    <message>
        <source>Write as GGUF…</source>
        <translation>写成 GGUF…</translation>
    </message>
    <message>
        <source>One file for llama.cpp, by its own converter</source>
        <translation>由 llama.cpp 自己的转换程序写出的单个文件</translation>
    </message>
    <message>
        <source>The model is not uploaded.</source>
        <translation>模型没有上传。</translation>
    </message>
    <message>
        <source>The model is not converted.</source>
        <translation>模型没有转换。</translation>
    </message>
    <message>
        <source>Uploading the model</source>
        <translation>正在上传模型</translation>
    </message>
    <message>
        <source>Write the model as GGUF</source>
        <translation>把模型写成 GGUF</translation>
    </message>
    <message>
        <source>GGUF files (*.gguf)</source>
        <translation>GGUF 文件 (*.gguf)</translation>
    </message>
    <message>
        <source>Converting the model</source>
        <translation>正在转换模型</translation>
    </message>
    <message>
        <source>The model is at %1.</source>
        <translation>模型在 %1。</translation>
    </message>
    <message>
        <source>The model is in %1.</source>
        <translation>模型在 %1 中。</translation>
    </message>
    <message>
        <source>Show it</source>
        <translation>查看</translation>
    </message>
</context>
<context>
    <name>ringmaster::YamlEditor</name>
    <message>
        <source>Configuration text</source>
        <translation>配置文本</translation>
    </message>
</context>
<context>
    <name>ringmaster::YamlTyping</name>
    <message>
        <source>%1 is used here.</source>
        <translation>此处使用 %1。</translation>
    </message>
    <message>
        <source>Keys that begin so</source>
        <translation>以此开头的键</translation>
    </message>
    <message>
        <source>%1 has no effect here.</source>
        <translation>%1 在此处不起作用。</translation>
    </message>
    <message>
        <source>%1 is not supported here.</source>
        <translation>此处不支持 %1。</translation>
    </message>
</context>
</TS>
