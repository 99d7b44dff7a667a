<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ja">
<context>
    <name>Agree</name>
    <message>
        <source>%1: %2, as before</source>
        <extracomment>%1 is a name such as &quot;Ranks&quot;, %2 and %3 are numbers</extracomment>
        <translation>%1：%2（従来どおり）</translation>
    </message>
    <message>
        <source>%1: %2 instead of %3</source>
        <translation>%1：%2（従来は %3）</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>ランク数</translation>
    </message>
    <message>
        <source>Ranks for each sequence</source>
        <translation>シーケンスあたりのランク数</translation>
    </message>
    <message>
        <source>Rows a step</source>
        <translation>ステップあたりの行数</translation>
    </message>
    <message>
        <source>Gradient accumulation</source>
        <translation>勾配累積</translation>
    </message>
    <message>
        <source>The losses stay the same as before.</source>
        <translation>損失は元の実行と同じままです。</translation>
    </message>
    <message>
        <source>The losses are no longer the same as before.</source>
        <translation>損失は元の実行と同じではなくなります。</translation>
    </message>
    <message>
        <source>Go on with fewer nodes?</source>
        <translation>ノードを減らして続行しますか？</translation>
    </message>
    <message>
        <source>Not there any more:
%1

With the remaining nodes the run would continue as follows:</source>
        <extracomment>%1 is a list of nodes, each with the reason why it is gone</extracomment>
        <translation>使えなくなったノード：
%1

残りのノードでは、次の設定で続行します：</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>続行</translation>
    </message>
    <message>
        <source>Leave it</source>
        <translation>続行しない</translation>
    </message>
</context>
<context>
    <name>Alerts</name>
    <message>
        <source>The loss is not a number at step %1</source>
        <translation>ステップ %1 で損失が数値ではなくなりました</translation>
    </message>
    <message>
        <source>The loss jumped to %1 at step %2; usually it is %3</source>
        <extracomment>%1 is the loss, %2 the step, %3 the loss before</extracomment>
        <translation>ステップ %2 で損失が %1 に跳ね上がりました（普段は %3）</translation>
    </message>
    <message>
        <source>Nothing was heard for %1 after step %2; rank %3 is behind</source>
        <translation>ステップ %2 の後、%1 の間何も届いていません。ランク %3 が遅れています</translation>
    </message>
    <message>
        <source>Nothing was heard for %1 after step %2</source>
        <translation>ステップ %2 の後、%1 の間何も届いていません</translation>
    </message>
    <message>
        <source>The loss has not fallen for %1 steps: %2 at step %3</source>
        <translation>損失が %1 ステップの間下がっていません：ステップ %3 で %2</translation>
    </message>
    <message>
        <source>Rank %1 is slow at step %2: the others wait %3 of a step for it</source>
        <translation>ステップ %2 でランク %1 が遅く、ほかのランクがステップの %3 を待ち時間にしています</translation>
    </message>
    <message>
        <source>The loss is not a number</source>
        <translation>損失が数値でなくなった</translation>
    </message>
    <message>
        <source>The loss jumps</source>
        <translation>損失が跳ね上がる</translation>
    </message>
    <message>
        <source>The run stalls</source>
        <translation>実行が止まっている</translation>
    </message>
    <message>
        <source>The loss no longer falls</source>
        <translation>損失が下がらなくなる</translation>
    </message>
    <message>
        <source>A rank is slow</source>
        <translation>ランクが遅い</translation>
    </message>
    <message>
        <source>The run ended after step %1, before it was complete</source>
        <translation>実行はステップ %1 の後、完了する前に終わりました</translation>
    </message>
    <message>
        <source>The run is complete: step %1 was its last</source>
        <translation>実行が完了しました：最後はステップ %1 です</translation>
    </message>
    <message>
        <source>The run ends before it is complete</source>
        <translation>実行が完了前に終わった</translation>
    </message>
    <message>
        <source>The run is complete</source>
        <translation>実行が完了した</translation>
    </message>
</context>
<context>
    <name>AppWays</name>
    <message>
        <source>The run directory has to be on a file system that the nodes share.</source>
        <translation>実行ディレクトリは、ノードが共有するファイルシステム上に置いてください。</translation>
    </message>
    <message>
        <source>Press “Set up” on the Start page.</source>
        <translation>ホーム画面の「セットアップ」を押してください。</translation>
    </message>
    <message>
        <source>Press Resume in Monitor.</source>
        <translation>モニターで「再開」を押してください。</translation>
    </message>
    <message>
        <source>On the Nodes page, Install LibTorch has that machine&apos;s pip bring it (a download of 2.8 GB), and Send LibTorch copies the part that is needed from here.</source>
        <translation>ノードページの「LibTorch をインストール」はそのマシンの pip で取得し（ダウンロード 2.8 GB）、「LibTorch を送信」は必要な部分をここからコピーします。</translation>
    </message>
    <message>
        <source>Does that machine reach PyPI? On the Nodes page, Send LibTorch brings it from here.</source>
        <translation>そのマシンは PyPI に接続できますか？ノードページの「LibTorch を送信」でここから送れます。</translation>
    </message>
    <message>
        <source>On the Nodes page, Send LibTorch brings it from here.</source>
        <translation>ノードページの「LibTorch を送信」でここから送れます。</translation>
    </message>
    <message>
        <source>Compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there; then press Check on the Nodes page, and trust it.</source>
        <translation>そのマシンで `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` が表示する値と比べ、ノードページの「確認」を押して信頼してください。</translation>
    </message>
    <message>
        <source>Launch it with more memory (mem=… under More), a shorter sequence_len, or more ranks.</source>
        <translation>メモリを増やす（「その他」に mem=… を書く）か、sequence_len を短くするか、ランク数を増やして起動してください。</translation>
    </message>
    <message>
        <source>Leave it out with CUDA_VISIBLE_DEVICES, choose CPU as Device on the Plan page, or use a machine with a newer GPU.</source>
        <translation>CUDA_VISIBLE_DEVICES で除外するか、プランページでデバイスを CPU にするか、新しい GPU のあるマシンを使ってください。</translation>
    </message>
    <message>
        <source>Install NVIDIA driver %2 or newer there, or choose CPU as Device on the Plan page.</source>
        <translation>そのマシンに NVIDIA ドライバ %2 以降をインストールするか、プランページでデバイスを CPU にしてください。</translation>
    </message>
</context>
<context>
    <name>AttentionKernels</name>
    <message>
        <source>Ringmaster&apos;s block kernel</source>
        <translation>Ringmaster のブロックカーネル</translation>
    </message>
    <message>
        <source>LibTorch&apos;s memory-efficient kernel</source>
        <translation>LibTorch の省メモリカーネル</translation>
    </message>
    <message>
        <source>FlashAttention-2, dense</source>
        <translation>FlashAttention-2、密</translation>
    </message>
    <message>
        <source>FlashAttention-2, varlen</source>
        <translation>FlashAttention-2、可変長</translation>
    </message>
    <message>
        <source>FlashAttention-2, backward in a fixed order</source>
        <translation>FlashAttention-2、固定順の逆伝播</translation>
    </message>
    <message>
        <source>cuDNN or FlashAttention-2, dense</source>
        <translation>cuDNN または FlashAttention-2、密</translation>
    </message>
    <message>
        <source>all of the attention</source>
        <translation>アテンション全体</translation>
    </message>
    <message>
        <source>rows that are one document without padding</source>
        <translation>パディングのない 1 ドキュメントの行</translation>
    </message>
    <message>
        <source>rows of several documents or with padding</source>
        <translation>複数のドキュメントまたはパディングを含む行</translation>
    </message>
    <message>
        <source>rows of several documents or with padding, and hops that see several stretches of keys</source>
        <translation>複数のドキュメントまたはパディングを含む行と、キーの複数区間を参照するホップ</translation>
    </message>
    <message>
        <source>layers with heads wider than 256</source>
        <translation>ヘッド次元が 256 を超える層</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>勾配</translation>
    </message>
    <message>
        <source>float32: FlashAttention-2 and cuDNN take 16 bits alone</source>
        <translation>float32：FlashAttention-2 と cuDNN は 16 ビットのみに対応しています</translation>
    </message>
    <message>
        <source>cuDNN is left out: rows hold several documents</source>
        <translation>cuDNN は除外：行が複数のドキュメントを含みます</translation>
    </message>
    <message>
        <source>cuDNN is left out: the model attends in a sliding window</source>
        <translation>cuDNN は除外：モデルがスライディングウィンドウを使います</translation>
    </message>
    <message>
        <source>cuDNN is left out: it takes head dimensions up to 128 that are multiples of 8</source>
        <translation>cuDNN は除外：対応するヘッド次元は 128 以下の 8 の倍数です</translation>
    </message>
    <message>
        <source>LibTorch&apos;s operations, in blocks of scores</source>
        <translation>LibTorch の演算（スコアのブロック単位）</translation>
    </message>
    <message>
        <source>the ranks compute on the CPU</source>
        <translation>ランクは CPU で計算します</translation>
    </message>
    <message>
        <source>bfloat16 by the processor&apos;s own products if it has them</source>
        <translation>プロセッサに bfloat16 の積和演算があれば使います</translation>
    </message>
    <message>
        <source>the faster of the two, by a measurement at the start</source>
        <translation>開始時に実測して速い方を選びます</translation>
    </message>
    <message>
        <source>on the run&apos;s own shapes; both compute the same</source>
        <translation>この実行の形状で実測します。計算結果は同じです</translation>
    </message>
    <message>
        <source>keeps documents apart</source>
        <translation>ドキュメント同士を分けます</translation>
    </message>
    <message>
        <source>documents and padding are segments of one launch</source>
        <translation>ドキュメントとパディングは 1 回の起動の中のセグメントです</translation>
    </message>
    <message>
        <source>a repeated run gives the same bits</source>
        <translation>再実行してもビット単位で同じ結果になります</translation>
    </message>
    <message>
        <source>heads and long documents get launches of their own where that fills the GPU; RINGMASTER_CUDA_DETERMINISTIC=1 asks for it</source>
        <translation>GPU を使い切れる場合は、ヘッドと長いドキュメントを別々に起動します。RINGMASTER_CUDA_DETERMINISTIC=1 で指定します</translation>
    </message>
    <message>
        <source>FlashAttention-2 takes heads up to 256 wide</source>
        <translation>FlashAttention-2 が対応するヘッド次元は 256 以下です</translation>
    </message>
    <message>
        <source>the model caps its attention scores</source>
        <translation>モデルがアテンションスコアにソフトキャップを適用しています</translation>
    </message>
    <message>
        <source>FlashAttention-2, cuDNN and the memory-efficient kernel are faster, but cannot do that</source>
        <translation>FlashAttention-2、cuDNN、省メモリカーネルの方が速いですが、この計算には対応していません</translation>
    </message>
</context>
<context>
    <name>Charts</name>
    <message>
        <source>steady</source>
        <translation>横ばい</translation>
    </message>
    <message>
        <source>rising</source>
        <translation>上昇</translation>
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
        <translation>%1：%2、%3</translation>
    </message>
    <message>
        <source>No data yet.</source>
        <translation>データはまだありません。</translation>
    </message>
    <message numerus="yes">
        <source>And %n more.</source>
        <translation>
            <numerusform>ほか %n 本。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompareCurves</name>
    <message>
        <source>time in steps</source>
        <translation>ステップの累計時間</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>トークン</translation>
    </message>
    <message>
        <source>step</source>
        <translation>ステップ</translation>
    </message>
</context>
<context>
    <name>Failures</name>
    <message>
        <source>line %1: </source>
        <translation>%1 行目：</translation>
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
        <source>s</source>
        <extracomment>unit: seconds</extracomment>
        <translation>秒</translation>
    </message>
    <message>
        <source>ms</source>
        <extracomment>unit: milliseconds</extracomment>
        <translation>ミリ秒</translation>
    </message>
    <message>
        <source>min</source>
        <extracomment>unit: minutes</extracomment>
        <translation>分</translation>
    </message>
    <message>
        <source>h</source>
        <extracomment>unit: hours</extracomment>
        <translation>時間</translation>
    </message>
    <message>
        <source>d</source>
        <extracomment>unit: days</extracomment>
        <translation>日</translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>the data were measured just now</extracomment>
        <translation>たった今</translation>
    </message>
    <message>
        <source>%1 ago</source>
        <extracomment>time since something happened; %1 is &quot;12 s&quot; or &quot;3 min&quot;</extracomment>
        <translation>%1前</translation>
    </message>
    <message>
        <source>, </source>
        <extracomment>stands between the parts of a list such as &quot;2 cores, 23.5 GiB&quot;</extracomment>
        <translation>、</translation>
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
        <translation>。</translation>
    </message>
</context>
<context>
    <name>LaunchPreview</name>
    <message>
        <source>(made by launch or prepare)</source>
        <translation>（起動または準備の際に作成）</translation>
    </message>
    <message>
        <source>which starts, with MASTER_PORT and the port&apos;s open socket added:</source>
        <translation>これが次を起動します。MASTER_PORT と、そのポートの開いたソケットが加わります：</translation>
    </message>
    <message>
        <source>the same, without an agent:</source>
        <translation>エージェントなしの場合：</translation>
    </message>
    <message>
        <source>(mirrors that of the nodes)</source>
        <translation>（各ノードのものを複製）</translation>
    </message>
    <message>
        <source>run directory:</source>
        <translation>実行ディレクトリ：</translation>
    </message>
    <message>
        <source>whose ranks tell NCCL:</source>
        <translation>そのランクが NCCL に渡す設定：</translation>
    </message>
    <message>
        <source>restarts after a failure: up to %1, by the program that launched the run, as long as it follows it; nodes that are lost are left out</source>
        <translation>失敗後の再起動回数：最大 %1 回。起動したプログラムが、実行を追跡している間だけ再起動します。失われたノードは除外します</translation>
    </message>
    <message>
        <source>restarts after a failure: up to %1, by the program that launched the run, as long as it follows it</source>
        <translation>失敗後の再起動回数：最大 %1 回。起動したプログラムが、実行を追跡している間だけ再起動します</translation>
    </message>
</context>
<context>
    <name>LaunchRemarks</name>
    <message numerus="yes">
        <source>The plan is for %n GPU(s); this machine has none.</source>
        <translation>
            <numerusform>プランは GPU %n 基が前提ですが、このマシンには GPU がありません。</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose machines over SSH or Slurm, or set Ranks and Device on the Plan page.</source>
        <translation>SSH または Slurm のマシンを選ぶか、プランページでランク数とデバイスを設定してください。</translation>
    </message>
    <message>
        <source>The plan does not fit into the memory of its devices.</source>
        <translation>このプランはデバイスのメモリに収まりません。</translation>
    </message>
    <message>
        <source>%1 holds a model, which this run replaces when it is done.</source>
        <translation>%1 にはすでにモデルがあり、この実行の完了時に置き換えられます。</translation>
    </message>
    <message>
        <source>The name is taken: the run is called %1.</source>
        <translation>この名前は使われています。実行の名前は %1 になります。</translation>
    </message>
    <message numerus="yes">
        <source>The plan is for %n GPU(s); this machine has %1.</source>
        <translation>
            <numerusform>プランは GPU %n 基が前提ですが、このマシンの GPU は %1 基です。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LaunchSteps</name>
    <message>
        <source>Connect to the login node</source>
        <translation>ログインノードに接続</translation>
    </message>
    <message>
        <source>Connect to the nodes</source>
        <translation>ノードに接続</translation>
    </message>
    <message>
        <source>Check the plan</source>
        <translation>プランの確認</translation>
    </message>
    <message>
        <source>Prepare model and data</source>
        <translation>モデルとデータの準備</translation>
    </message>
    <message>
        <source>Send it to the cluster</source>
        <translation>クラスタへ送信</translation>
    </message>
    <message>
        <source>Send it to the nodes</source>
        <translation>ノードへ送信</translation>
    </message>
    <message>
        <source>Submit the job</source>
        <translation>ジョブの投入</translation>
    </message>
    <message>
        <source>Start the ranks</source>
        <translation>ランクの開始</translation>
    </message>
    <message>
        <source>Wait in the queue</source>
        <translation>キューで待機</translation>
    </message>
    <message>
        <source>Ranks meet</source>
        <translation>ランデブー</translation>
    </message>
    <message>
        <source>First step</source>
        <translation>最初のステップ</translation>
    </message>
    <message>
        <source>It did not start.</source>
        <translation>起動できませんでした。</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>起動</translation>
    </message>
    <message>
        <source>Add to the queue</source>
        <translation>キューに追加</translation>
    </message>
    <message>
        <source>It was not queued.</source>
        <translation>キューに追加できませんでした。</translation>
    </message>
    <message>
        <source>Check the checkpoint</source>
        <translation>チェックポイントを確認</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>再開</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>セットアップ</translation>
    </message>
    <message>
        <source>Install PyTorch and the Hugging Face libraries (some GB)</source>
        <translation>PyTorch と Hugging Face のライブラリをインストール（数 GB）</translation>
    </message>
    <message>
        <source>The example</source>
        <translation>サンプル</translation>
    </message>
    <message>
        <source>Make the example</source>
        <translation>サンプルを作成</translation>
    </message>
    <message>
        <source>Measure this machine</source>
        <translation>このマシンを測定</translation>
    </message>
    <message>
        <source>It was not measured.</source>
        <translation>測定できませんでした。</translation>
    </message>
    <message>
        <source>Measure matrix products, attention, memory and links</source>
        <translation>行列積、アテンション、メモリ、リンクを測定</translation>
    </message>
</context>
<context>
    <name>Log</name>
    <message>
        <source>attempt %1 on %2, %3, Ringmaster %4, LibTorch %5</source>
        <translation>試行 %1（%2）、%3、Ringmaster %4、LibTorch %5</translation>
    </message>
    <message>
        <source>phase: %1</source>
        <translation>フェーズ：%1</translation>
    </message>
    <message>
        <source>evaluation after step %1: loss %2</source>
        <translation>ステップ %1 後の評価：損失 %2</translation>
    </message>
    <message>
        <source>checkpoint of step %1 saved in %2</source>
        <translation>ステップ %1 のチェックポイントを %2で保存</translation>
    </message>
    <message>
        <source>completed after step %1</source>
        <translation>ステップ %1 で完了</translation>
    </message>
    <message>
        <source>stopped after step %1</source>
        <translation>ステップ %1 で停止</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) written after step %1</source>
        <translation>
            <numerusform>ステップ %1 の後にサンプルを %n 件書き出しました</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MachineWords</name>
    <message>
        <source>Devices</source>
        <translation>デバイス</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n コア</numerusform>
        </translation>
    </message>
    <message>
        <source>%1; the NVIDIA driver shows no GPU</source>
        <translation>%1、NVIDIA ドライバは GPU を検出していません</translation>
    </message>
    <message>
        <source>Look at CUDA_VISIBLE_DEVICES and nvidia-smi.</source>
        <translation>CUDA_VISIBLE_DEVICES と nvidia-smi を確認してください。</translation>
    </message>
    <message>
        <source>%1, no NVIDIA GPU</source>
        <translation>%1、NVIDIA GPU なし</translation>
    </message>
    <message>
        <source>Plans for any number of GPUs, trains on the processor.</source>
        <translation>プランは任意の数の GPU で作成でき、学習は CPU で実行します。</translation>
    </message>
    <message>
        <source>%1; driver %2</source>
        <translation>%1、ドライバ %2</translation>
    </message>
    <message>
        <source>The free space cannot be read.</source>
        <translation>空き容量を読み取れません。</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>空き %1</translation>
    </message>
    <message>
        <source>Little room: a run could fill the disk.</source>
        <translation>空きが少なく、実行によってディスクがいっぱいになるおそれがあります。</translation>
    </message>
    <message numerus="yes">
        <source>%n host(s) in ~/.ssh/config</source>
        <translation>
            <numerusform>~/.ssh/config にホスト %n 件</numerusform>
        </translation>
    </message>
    <message>
        <source>SSH</source>
        <translation>SSH</translation>
    </message>
    <message>
        <source>agent answers; %1</source>
        <translation>エージェント応答あり、%1</translation>
    </message>
    <message>
        <source>agent does not answer; %1</source>
        <translation>エージェント応答なし、%1</translation>
    </message>
    <message>
        <source>Start it again: %1</source>
        <translation>起動し直してください：%1</translation>
    </message>
    <message>
        <source>no agent; %1</source>
        <translation>エージェントなし、%1</translation>
    </message>
    <message>
        <source>Needed for other machines only: %1</source>
        <translation>ほかのマシンを使う場合にのみ必要です：%1</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>エンジン</translation>
    </message>
    <message>
        <source>installed</source>
        <translation>インストール済み</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>見つかりません</translation>
    </message>
    <message>
        <source>Install or build Ringmaster whole.</source>
        <translation>Ringmaster 全体をインストールまたはビルドしてください。</translation>
    </message>
    <message>
        <source>CUDA</source>
        <translation>CUDA</translation>
    </message>
    <message>
        <source>the engine&apos;s CUDA part is there</source>
        <translation>エンジンは CUDA に対応しています</translation>
    </message>
    <message>
        <source>not in this build: GPUs stay unused</source>
        <translation>このビルドにはありません。GPU は使われません</translation>
    </message>
    <message>
        <source>Build it again without RINGMASTER_CUDA=off.</source>
        <translation>RINGMASTER_CUDA=off を付けずにビルドし直してください。</translation>
    </message>
    <message>
        <source>LibTorch</source>
        <translation>LibTorch</translation>
    </message>
    <message>
        <source>%1, set up</source>
        <translation>%1、セットアップ済み</translation>
    </message>
    <message>
        <source>%1 is not set up yet</source>
        <translation>%1 は未セットアップです</translation>
    </message>
    <message>
        <source>Planning works without it; training needs it (about 3 GB to load).</source>
        <translation>プランの作成には不要ですが、学習には必要です（ダウンロードは約 3 GB）。</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <source>%1 of %2 available</source>
        <translation>%2 のうち %1 利用可能</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>実行フォルダ</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>キャッシュ</translation>
    </message>
</context>
<context>
    <name>Monitor</name>
    <message>
        <source>rank %1</source>
        <translation>ランク %1</translation>
    </message>
    <message>
        <source>step</source>
        <translation>ステップ</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>トークン</translation>
    </message>
    <message>
        <source>time</source>
        <translation>時間</translation>
    </message>
    <message>
        <source>global</source>
        <translation>全体</translation>
    </message>
    <message>
        <source>evaluation</source>
        <translation>評価</translation>
    </message>
    <message>
        <source>data</source>
        <translation>データ</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>計算</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>隠蔽されない通信</translation>
    </message>
    <message>
        <source>other</source>
        <translation>その他</translation>
    </message>
    <message>
        <source>expected</source>
        <translation>推定</translation>
    </message>
    <message>
        <source>capacity</source>
        <translation>容量</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>ステップ時間</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>隠蔽されない通信</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <source>Ranks over time</source>
        <translation>ランクの推移</translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation>スループット</translation>
    </message>
    <message>
        <source>Overlap</source>
        <translation>オーバーラップ</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>勾配ノルム</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学習率</translation>
    </message>
    <message>
        <source>global, and each rank&apos;s own</source>
        <translation>全体とランク別</translation>
    </message>
    <message>
        <source>of rank %1</source>
        <translation>ランク %1</translation>
    </message>
    <message>
        <source>median of the ranks</source>
        <translation>ランクの中央値</translation>
    </message>
    <message>
        <source>waiting share of a step</source>
        <translation>ステップのうち待機の割合、ランク別</translation>
    </message>
    <message>
        <source>tensors at the peak, of %1</source>
        <translation>テンソルのピーク（容量 %1）</translation>
    </message>
    <message>
        <source>tensors at the peak</source>
        <translation>テンソルのピーク</translation>
    </message>
    <message>
        <source>own work against the median</source>
        <translation>自身の処理時間、中央値との比較</translation>
    </message>
    <message>
        <source>tokens per second, all ranks</source>
        <translation>トークン/秒、全ランク</translation>
    </message>
    <message>
        <source>hidden share of communication</source>
        <translation>計算で隠蔽された通信の割合</translation>
    </message>
    <message>
        <source>before clipping</source>
        <translation>クリッピング前</translation>
    </message>
    <message>
        <source>tokens per second</source>
        <translation>トークン/秒</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>勾配ノルム</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学習率</translation>
    </message>
    <message>
        <source>reward</source>
        <translation>報酬</translation>
    </message>
    <message>
        <source>chosen</source>
        <translation>選ばれた応答</translation>
    </message>
    <message>
        <source>rejected</source>
        <translation>退けられた応答</translation>
    </message>
    <message>
        <source>margin</source>
        <translation>差</translation>
    </message>
    <message>
        <source>chosen above rejected</source>
        <translation>選ばれた応答が上</translation>
    </message>
    <message>
        <source>clipped</source>
        <translation>クリップ</translation>
    </message>
    <message>
        <source>cut at the longest length</source>
        <translation>最大長で打ち切り</translation>
    </message>
    <message>
        <source>in a group of equal rewards</source>
        <translation>報酬がすべて同じグループの応答</translation>
    </message>
    <message>
        <source>mean length</source>
        <translation>平均の長さ</translation>
    </message>
    <message>
        <source>divergence</source>
        <translation>ダイバージェンス</translation>
    </message>
    <message>
        <source>NLL of the chosen</source>
        <translation>選ばれた応答の NLL</translation>
    </message>
    <message>
        <source>router loss</source>
        <translation>ルーターの損失</translation>
    </message>
    <message>
        <source>Rewards</source>
        <translation>報酬</translation>
    </message>
    <message>
        <source>Shares of the completions</source>
        <translation>応答の割合</translation>
    </message>
    <message>
        <source>Completion length</source>
        <translation>応答の長さ</translation>
    </message>
    <message>
        <source>Divergence from the reference</source>
        <translation>参照モデルとの KL ダイバージェンス</translation>
    </message>
    <message>
        <source>Parts of the loss</source>
        <translation>損失の内訳</translation>
    </message>
    <message>
        <source>means over a step</source>
        <translation>1 ステップの平均</translation>
    </message>
    <message>
        <source>tokens of a sampled completion</source>
        <translation>生成した応答のトークン数</translation>
    </message>
    <message>
        <source>checkpoint of step %1</source>
        <translation>ステップ %1 のチェックポイント</translation>
    </message>
    <message>
        <source>checkpoint</source>
        <extracomment>a legend&apos;s name of the moments at which a checkpoint was saved</extracomment>
        <translation>チェックポイント</translation>
    </message>
    <message>
        <source>attempt %1, from step %2</source>
        <translation>試行 %1、ステップ %2 から</translation>
    </message>
    <message>
        <source>attempt %1, from step %2, on %3 ranks in place of %4</source>
        <translation>試行 %1、ステップ %2 から、%4 ランクの代わりに %3 ランク</translation>
    </message>
    <message>
        <source>gap</source>
        <translation>差</translation>
    </message>
    <message>
        <source>Gap to the sampling server</source>
        <translation>サンプリングサーバーとの差</translation>
    </message>
    <message>
        <source>mean, in log-probability</source>
        <translation>対数確率の平均差</translation>
    </message>
    <message numerus="yes">
        <source>median and range of %n ranks</source>
        <extracomment>name in a legend: median of %n ranks as a line, with the area between the least and the greatest</extracomment>
        <translation>
            <numerusform>%n ランクの中央値と範囲</numerusform>
        </translation>
    </message>
    <message>
        <source>alert</source>
        <extracomment>a legend&apos;s name of the moments at which an alert was raised</extracomment>
        <translation>アラート</translation>
    </message>
    <message>
        <source>new attempt</source>
        <extracomment>a legend&apos;s name of the moments at which a run was resumed</extracomment>
        <translation>新しい試行</translation>
    </message>
</context>
<context>
    <name>NodeFindings</name>
    <message>
        <source>the host name %1 is not known here: %2</source>
        <translation>ホスト名 %1 を解決できません：%2</translation>
    </message>
    <message>
        <source>check the spelling, or add a Host entry with its HostName to ~/.ssh/config</source>
        <translation>つづりを確認するか、~/.ssh/config に HostName 付きの Host エントリを追加してください</translation>
    </message>
    <message>
        <source>connection refused by %1 port %2</source>
        <translation>%1 のポート %2 への接続が拒否されました</translation>
    </message>
    <message>
        <source>is sshd running there, on port %2?</source>
        <translation>sshd はポート %2 で動いていますか？</translation>
    </message>
    <message>
        <source>no answer from %1 port %2 in %3 s</source>
        <translation>%1 のポート %2 から %3 秒間応答がありません</translation>
    </message>
    <message>
        <source>is the machine on, and does a firewall let port %2 through? A VPN may be needed</source>
        <translation>マシンの電源は入っていますか？ファイアウォールはポート %2 を通しますか？VPN が必要な場合もあります</translation>
    </message>
    <message>
        <source>cannot reach %1 port %2: %3</source>
        <translation>%1 のポート %2 に到達できません：%3</translation>
    </message>
    <message>
        <source>no route leads there from this machine: is the network or the VPN up?</source>
        <translation>このマシンからの経路がありません。ネットワークや VPN はつながっていますか？</translation>
    </message>
    <message>
        <source>no connection with %1 port %2: %3</source>
        <translation>%1 のポート %2 に接続できません：%3</translation>
    </message>
    <message>
        <source>`ssh -v %4` may say more</source>
        <translation>`ssh -v %4` で詳細がわかる場合があります</translation>
    </message>
    <message>
        <source>given up before %1 port %2 had answered</source>
        <translation>%1 のポート %2 の応答を待たずに打ち切りました</translation>
    </message>
    <message>
        <source>check it again</source>
        <translation>もう一度確認してください</translation>
    </message>
    <message>
        <source>%1 port %2 answered, but not as SSH should: %3</source>
        <translation>%1 のポート %2 は応答しましたが、SSH の応答ではありません：%3</translation>
    </message>
    <message>
        <source>`ssh -v %4` shows the same exchange</source>
        <translation>`ssh -v %4` で同じやり取りを確認できます</translation>
    </message>
    <message>
        <source>the jump host %1 does not connect to %2 port %3: %4</source>
        <translation>踏み台ホスト %1 から %2 のポート %3 に接続できません：%4</translation>
    </message>
    <message>
        <source>is the machine on, and does the jump host&apos;s sshd allow forwarding (AllowTcpForwarding)?</source>
        <translation>マシンの電源は入っていますか？踏み台ホストの sshd は転送（AllowTcpForwarding）を許可していますか？</translation>
    </message>
    <message>
        <source>more than %1 jump hosts, or one that jumps through itself</source>
        <translation>踏み台ホストが %1 台を超えているか、自分自身を経由しています</translation>
    </message>
    <message>
        <source>see ProxyJump in ~/.ssh/config</source>
        <translation>~/.ssh/config の ProxyJump を確認してください</translation>
    </message>
    <message>
        <source>ssh does not understand its configuration: %1</source>
        <translation>ssh が設定を解釈できません：%1</translation>
    </message>
    <message>
        <source>`ssh -G %2` shows the same</source>
        <translation>`ssh -G %2` でも同じ結果になります</translation>
    </message>
    <message>
        <source>the connection is lost: %1</source>
        <translation>接続が切れました：%1</translation>
    </message>
    <message>
        <source>shows no host key: %1</source>
        <translation>ホスト鍵を提示しません：%1</translation>
    </message>
    <message>
        <source>its host key is not known: %1 %2</source>
        <translation>ホスト鍵が未知です：%1 %2</translation>
    </message>
    <message>
        <source>compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there; then trust it (--trust-on-first-use): that adds it to %4</source>
        <translation>そのマシンで `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` が表示する値と比べてから信頼してください（--trust-on-first-use）。%4 に追加されます</translation>
    </message>
    <message>
        <source>its host key has CHANGED: now it is %1 %2. Somebody may stand between, or the machine was set up anew; nothing was sent to it</source>
        <translation>ホスト鍵が変わっています！現在は %1 %2 です。第三者が割り込んでいるか、マシンが再構築された可能性があります。何も送信していません</translation>
    </message>
    <message>
        <source>ask whoever runs the machine. If the new key is right: ssh-keygen -f %3 -R &apos;%4&apos;</source>
        <translation>マシンの管理者に確認してください。新しい鍵が正しければ：ssh-keygen -f %3 -R &apos;%4&apos;</translation>
    </message>
    <message>
        <source>is known by a host key of another type than it shows now (%1 %2). Somebody may stand between; nothing was sent to it</source>
        <translation>登録済みのホスト鍵は、いま提示された鍵（%1 %2）と種類が異なります。第三者が割り込んでいる可能性があります。何も送信していません</translation>
    </message>
    <message>
        <source>its host key is not known: %1 %2. StrictHostKeyChecking yes lets none be added</source>
        <translation>ホスト鍵が未知です：%1 %2。StrictHostKeyChecking yes のため追加できません</translation>
    </message>
    <message>
        <source>compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there, and add it to %4 yourself</source>
        <translation>そのマシンで `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` が表示する値と比べ、ご自身で %4 に追加してください</translation>
    </message>
    <message>
        <source>its host key is not known: %1 %2. UserKnownHostsFile none leaves no file to add it to</source>
        <translation>ホスト鍵が未知です：%1 %2。UserKnownHostsFile none のため、追加先のファイルがありません</translation>
    </message>
    <message>
        <source>name a file in UserKnownHostsFile, or add the key to one of GlobalKnownHostsFile</source>
        <translation>UserKnownHostsFile にファイルを指定するか、GlobalKnownHostsFile のファイルに鍵を追加してください</translation>
    </message>
    <message>
        <source>its host key %1 %2 is REVOKED by %3. Somebody may have stolen it; nothing was sent to the machine</source>
        <translation>ホスト鍵 %1 %2 は %3 により失効しています。盗まれた可能性があります。マシンには何も送信していません</translation>
    </message>
    <message>
        <source>ask whoever runs the machine for its new host key</source>
        <translation>マシンの管理者に新しいホスト鍵を確認してください</translation>
    </message>
    <message>
        <source>its address is known by another host key than %1 %2 (CheckHostIP, %3). Somebody may stand between; nothing was sent to it</source>
        <translation>このアドレスに登録済みのホスト鍵は %1 %2 ではありません（CheckHostIP、%3）。第三者が割り込んでいる可能性があります。何も送信していません</translation>
    </message>
    <message>
        <source>ask whoever runs the machine which key is right, and remove the wrong line</source>
        <translation>どの鍵が正しいかマシンの管理者に確認し、誤った行を削除してください</translation>
    </message>
    <message>
        <source>its host key %1 %2 has %3 bits, fewer than RequiredRSASize asks for</source>
        <translation>ホスト鍵 %1 %2 は %3 ビットで、RequiredRSASize の要求に足りません</translation>
    </message>
    <message>
        <source>ask whoever runs the machine for a longer key, or for one of ed25519</source>
        <translation>より長い鍵か ed25519 の鍵にするよう、マシンの管理者に依頼してください</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not checked: KnownHostsCommand (%3) is not run here</source>
        <translation>ホスト鍵 %1 %2 は未確認です。KnownHostsCommand（%3）はここでは実行しません</translation>
    </message>
    <message>
        <source>write what the command prints to a file, and name that in UserKnownHostsFile instead</source>
        <translation>そのコマンドの出力をファイルに保存し、代わりに UserKnownHostsFile で指定してください</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not accepted: %3 revokes a key that cannot be read</source>
        <translation>ホスト鍵 %1 %2 を受け付けません。%3 が失効させている鍵を読み込めません</translation>
    </message>
    <message>
        <source>mend that line, or remove it</source>
        <translation>その行を直すか、削除してください</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not accepted: RevokedHostKeys names %3, a binary list (KRL), which is not read here</source>
        <translation>ホスト鍵 %1 %2 を受け付けません。RevokedHostKeys に指定された %3 はバイナリのリスト（KRL）で、ここでは読み込めません</translation>
    </message>
    <message>
        <source>name a text file in RevokedHostKeys instead, one public key a line</source>
        <translation>RevokedHostKeys には、公開鍵を 1 行に 1 つ書いたテキストファイルを指定してください</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not accepted: it has a host certificate, which is not read here, and %3 may revoke the authority that signed it</source>
        <translation>ホスト鍵 %1 %2 を受け付けません。ホスト証明書が付いていますが、証明書はここでは読み込めず、署名した認証局を %3 が失効させている可能性があります</translation>
    </message>
    <message>
        <source>name key types without certificates for it in ~/.ssh/config: HostKeyAlgorithms ssh-ed25519,rsa-sha2-512</source>
        <translation>~/.ssh/config で、証明書なしの鍵の種類を指定してください：HostKeyAlgorithms ssh-ed25519,rsa-sha2-512</translation>
    </message>
    <message>
        <source>HostKeyAlgorithms does not tell which of its host keys to ask for (host certificates are not read here): %1</source>
        <translation>HostKeyAlgorithms からは、どのホスト鍵を求めるか決まりません（ホスト証明書はここでは読み込めません）：%1</translation>
    </message>
    <message>
        <source>name one key type for it in ~/.ssh/config, for instance HostKeyAlgorithms ssh-ed25519</source>
        <translation>~/.ssh/config で鍵の種類を 1 つ指定してください。例：HostKeyAlgorithms ssh-ed25519</translation>
    </message>
    <message>
        <source>. Not followed here, though ssh does: %1</source>
        <translation>。ssh は従いますが、ここでは従わない設定：%1</translation>
    </message>
    <message>
        <source>its host key cannot be checked: %1</source>
        <translation>ホスト鍵を検証できません：%1</translation>
    </message>
    <message>
        <source>is %2 readable?</source>
        <translation>%2 は読み取れますか？</translation>
    </message>
    <message>
        <source>its host key cannot be added to %1: %2</source>
        <translation>ホスト鍵を %1 に追加できません：%2</translation>
    </message>
    <message>
        <source>the login as %1 was not accepted. It takes %2; tried: </source>
        <translation>%1 としてのログインが拒否されました。使える方式は %2、試したものは：</translation>
    </message>
    <message>
        <source>`ssh %3` has to work without us; `ssh-copy-id` puts a key there</source>
        <translation>まず `ssh %3` が単独で成功する必要があります。`ssh-copy-id` で鍵を登録できます</translation>
    </message>
    <message>
        <source>the login as %1 was not accepted. It takes %2; nothing was there to try</source>
        <translation>%1 としてのログインが拒否されました。使える方式は %2 ですが、試せるものがありません</translation>
    </message>
    <message>
        <source>the password for the login as %1 was not accepted. It takes %2; tried: </source>
        <translation>%1 としてのログインのパスワードが拒否されました。使える方式は %2、試したものは：</translation>
    </message>
    <message>
        <source>is it the password of %1 on that machine? `ssh-copy-id %3` puts a key there, and none is asked for</source>
        <translation>そのマシンでの %1 のパスワードですか？`ssh-copy-id %3` で鍵を登録すると、パスワードは不要になります</translation>
    </message>
    <message>
        <source>its questions were not answered as it wants for the login as %1. It takes %2; tried: </source>
        <translation>%1 としてのログインで、質問への回答が受け付けられませんでした。使える方式は %2、試したものは：</translation>
    </message>
    <message>
        <source>a code may have run out: check it again; `ssh %3` asks the same</source>
        <translation>コードの期限が切れた可能性があります。もう一度確認してください。`ssh %3` でも同じことを聞かれます</translation>
    </message>
    <message>
        <source>the login as %1 has to be answered by a person. It takes %2; tried: </source>
        <translation>%1 としてのログインには人の応答が必要です。使える方式は %2、試したものは：</translation>
    </message>
    <message>
        <source>run it in a terminal or use the app; or `ssh-copy-id %3` puts a key there, and nothing is asked</source>
        <translation>端末で実行するか、アプリを使ってください。`ssh-copy-id %3` で鍵を登録すれば、何も聞かれなくなります</translation>
    </message>
    <message>
        <source>ended the login after %1 keys that it does not know (its MaxAuthTries); tried: </source>
        <translation>未知の鍵が %1 個続いたため、ログインを打ち切られました（相手側の MaxAuthTries）。試したものは：</translation>
    </message>
    <message>
        <source>name the right key for this host in ~/.ssh/config: IdentityFile with IdentitiesOnly yes</source>
        <translation>~/.ssh/config でこのホストの正しい鍵を指定してください：IdentityFile と IdentitiesOnly yes</translation>
    </message>
    <message>
        <source>ended the login after too many wrong answers (its MaxAuthTries); tried: </source>
        <translation>誤った回答が多すぎたため、ログインを打ち切られました（相手側の MaxAuthTries）。試したものは：</translation>
    </message>
    <message>
        <source>`ssh %1` has to work without us</source>
        <translation>まず `ssh %1` が単独で成功する必要があります</translation>
    </message>
    <message>
        <source>ended the login: %1; tried: </source>
        <translation>ログインを打ち切られました：%1。試したものは：</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>なし</translation>
    </message>
    <message>
        <source>1 key of the ssh-agent (not accepted)</source>
        <translation>ssh-agent の鍵 1 個（拒否）</translation>
    </message>
    <message>
        <source>%1 keys of the ssh-agent (not accepted)</source>
        <translation>ssh-agent の鍵 %1 個（拒否）</translation>
    </message>
    <message>
        <source>%1 (not accepted)</source>
        <translation>%1（拒否）</translation>
    </message>
    <message>
        <source>%1 (only its public half is here)</source>
        <translation>%1（公開鍵しかありません）</translation>
    </message>
    <message>
        <source>%1 (cannot be read as a private key)</source>
        <translation>%1（秘密鍵として読み込めません）</translation>
    </message>
    <message>
        <source>%1 (encrypted: load it with ssh-add, or give its passphrase)</source>
        <translation>%1（暗号化されています。ssh-add で読み込むか、パスフレーズを入力してください）</translation>
    </message>
    <message>
        <source>keyboard-interactive (not accepted)</source>
        <translation>keyboard-interactive（拒否）</translation>
    </message>
    <message>
        <source>keyboard-interactive (%1 times not accepted)</source>
        <translation>keyboard-interactive（%1 回拒否）</translation>
    </message>
    <message>
        <source>keyboard-interactive (the server asks, and nobody is there to answer)</source>
        <translation>keyboard-interactive（サーバーが質問していますが、答える人がいません）</translation>
    </message>
    <message>
        <source>password (not accepted)</source>
        <translation>パスワード（拒否）</translation>
    </message>
    <message>
        <source>password (%1 times not accepted)</source>
        <translation>パスワード（%1 回拒否）</translation>
    </message>
    <message>
        <source>password (nobody is there to give it)</source>
        <translation>パスワード（入力する人がいません）</translation>
    </message>
    <message>
        <source>no channel for a command: %1</source>
        <translation>コマンド用のチャネルを開けません：%1</translation>
    </message>
    <message>
        <source>its sshd may allow too few sessions (MaxSessions)</source>
        <translation>sshd の許可するセッション数が少なすぎる可能性があります（MaxSessions）</translation>
    </message>
    <message>
        <source>does not run commands: %1</source>
        <translation>コマンドを実行できません：%1</translation>
    </message>
    <message>
        <source>an account that may only transfer files cannot train</source>
        <translation>ファイル転送専用のアカウントでは学習できません</translation>
    </message>
    <message>
        <source>the login shell ended before it ran anything%1</source>
        <translation>ログインシェルが何も実行しないうちに終了しました%1</translation>
    </message>
    <message>
        <source>`ssh %2 true` has to succeed: look at the shell&apos;s start files there</source>
        <translation>`ssh %2 true` が成功する必要があります。そのマシンのシェルの起動ファイルを確認してください</translation>
    </message>
    <message>
        <source>the login shell did not get to running anything in 30 s%1</source>
        <translation>ログインシェルが 30 秒以内に何も実行できませんでした%1</translation>
    </message>
    <message>
        <source>its start files wait for something or start another program: keep that for interactive shells</source>
        <translation>起動ファイルが何かを待っているか、別のプログラムを起動しています。対話シェルだけで実行されるようにしてください</translation>
    </message>
    <message>
        <source>its shell did not answer our questions%1</source>
        <translation>シェルが問い合わせに応答しません%1</translation>
    </message>
    <message>
        <source>`sh` has to be a POSIX shell there</source>
        <translation>そのマシンの `sh` は POSIX シェルである必要があります</translation>
    </message>
    <message>
        <source>has taken nothing for %1 s</source>
        <translation>%1 秒間データを受け取っていません</translation>
    </message>
    <message>
        <source>is a disk or network file system of the machine hanging?</source>
        <translation>そのマシンのディスクかネットワークファイルシステムが固まっていませんか？</translation>
    </message>
    <message>
        <source>sends more than is asked of it (over %1)</source>
        <translation>要求した以上のデータを送ってきます（%1 超）</translation>
    </message>
    <message>
        <source>look at its shell&apos;s start-up files, and whether it is the machine that you mean</source>
        <translation>シェルの起動ファイルと、目的のマシンかどうかを確認してください</translation>
    </message>
    <message>
        <source>a command there has said nothing for %1 s</source>
        <translation>そのマシンのコマンドが %1 秒間何も出力していません</translation>
    </message>
    <message>
        <source>%1 cores, %2 of %3 memory free, %4 disk free, no GPU</source>
        <translation>%1 コア、メモリ %3 のうち %2 空き、ディスク空き %4、GPU なし</translation>
    </message>
    <message>
        <source>%5 × %6 (driver %7), %1 cores, %2 of %3 memory free, %4 disk free</source>
        <translation>%5 × %6（ドライバ %7）、%1 コア、メモリ %3 のうち %2 空き、ディスク空き %4</translation>
    </message>
    <message>
        <source>runs %1; Ringmaster&apos;s engine is for Linux</source>
        <translation>OS は %1 ですが、Ringmaster のエンジンは Linux 用です</translation>
    </message>
    <message>
        <source>choose another node</source>
        <translation>別のノードを選んでください</translation>
    </message>
    <message>
        <source>is a %1 machine; the engine here is built for %2</source>
        <translation>%1 のマシンですが、ここのエンジンは %2 用にビルドされています</translation>
    </message>
    <message>
        <source>build Ringmaster on a %1 machine and launch from there</source>
        <translation>%1 のマシンで Ringmaster をビルドし、そこから起動してください</translation>
    </message>
    <message>
        <source>has no glibc (its libc is another); the engine needs glibc %1</source>
        <translation>glibc がありません（別の libc です）。エンジンには glibc %1 が必要です</translation>
    </message>
    <message>
        <source>choose a node with a glibc distribution</source>
        <translation>glibc を使うディストリビューションのノードを選んでください</translation>
    </message>
    <message>
        <source>has glibc %1, older than the %2 that the engine is built against</source>
        <translation>glibc %1 は、エンジンのビルドに使った %2 より古いものです</translation>
    </message>
    <message>
        <source>build Ringmaster on a system as old as that node&apos;s, or choose another node</source>
        <translation>そのノードと同じくらい古いシステムで Ringmaster をビルドするか、別のノードを選んでください</translation>
    </message>
    <message>
        <source>its disk is full: nothing can be written in %1</source>
        <translation>ディスクがいっぱいで、%1 に書き込めません</translation>
    </message>
    <message>
        <source>make room there</source>
        <translation>そのマシンの空きを増やしてください</translation>
    </message>
    <message>
        <source>has %2 free in %1; 1 GiB is the least</source>
        <translation>%1 の空きは %2 です。最低 1 GiB 必要です</translation>
    </message>
    <message>
        <source>nothing can be written in %1: %2</source>
        <translation>%1 に書き込めません：%2</translation>
    </message>
    <message>
        <source>set XDG_DATA_HOME there to a folder that you may write in</source>
        <translation>そのマシンで XDG_DATA_HOME を書き込めるフォルダに設定してください</translation>
    </message>
    <message>
        <source>programs may not run in %1 (mounted noexec)</source>
        <translation>%1 ではプログラムを実行できません（noexec でマウント）</translation>
    </message>
    <message>
        <source>set XDG_DATA_HOME there to a folder on a disk without noexec</source>
        <translation>そのマシンで XDG_DATA_HOME を noexec でないディスクのフォルダに設定してください</translation>
    </message>
    <message>
        <source>has no sha256sum</source>
        <translation>sha256sum がありません</translation>
    </message>
    <message>
        <source>install coreutils there</source>
        <translation>そのマシンに coreutils をインストールしてください</translation>
    </message>
    <message>
        <source>has no LibTorch %1</source>
        <translation>LibTorch %1 がありません</translation>
    </message>
    <message>
        <source>--libtorch pip installs it there with that machine&apos;s pip (a download of 2.8 GB), --libtorch copy sends the part that is needed from here</source>
        <translation>--libtorch pip はそのマシンの pip でインストールし（ダウンロード 2.8 GB）、--libtorch copy は必要な部分をここから送ります</translation>
    </message>
    <message>
        <source>has no LibTorch %1, and no Python that could install it</source>
        <translation>LibTorch %1 も、それをインストールできる Python もありません</translation>
    </message>
    <message>
        <source>--libtorch copy sends the part that is needed from here</source>
        <translation>--libtorch copy で必要な部分をここから送れます</translation>
    </message>
    <message>
        <source>has no LibTorch %1 (there is %2)</source>
        <translation>LibTorch %1 がありません（あるのは %2）</translation>
    </message>
    <message>
        <source>its NVIDIA driver %1 is too old for CUDA %3: its GPUs cannot be used</source>
        <translation>NVIDIA ドライバ %1 は CUDA %3 には古すぎ、GPU を使えません</translation>
    </message>
    <message>
        <source>install NVIDIA driver %2 or newer there, or train on its processors with --device cpu</source>
        <translation>そのマシンに NVIDIA ドライバ %2 以降をインストールするか、--device cpu でプロセッサを使って学習してください</translation>
    </message>
    <message>
        <source>its GPU %1, %2, has compute capability %3, and the engine&apos;s kernels need %4 or newer</source>
        <translation>GPU %1（%2）の Compute Capability は %3 ですが、エンジンのカーネルには %4 以上が必要です</translation>
    </message>
    <message>
        <source>leave it out with CUDA_VISIBLE_DEVICES there, or train on its processors with --device cpu</source>
        <translation>そのマシンで CUDA_VISIBLE_DEVICES から外すか、--device cpu でプロセッサを使って学習してください</translation>
    </message>
    <message>
        <source>GPU %1 is in use by %2 (%3)</source>
        <translation>GPU %1 は %2 が使用中です（%3）</translation>
    </message>
    <message>
        <source>ask them, or leave it out with CUDA_VISIBLE_DEVICES</source>
        <translation>使用者と調整するか、CUDA_VISIBLE_DEVICES から外してください</translation>
    </message>
    <message>
        <source>its clock is %1 ahead</source>
        <translation>時計が %1進んでいます</translation>
    </message>
    <message>
        <source>set it (NTP): times of events will not agree</source>
        <translation>時刻を合わせてください（NTP）。イベントの時刻がずれます</translation>
    </message>
    <message>
        <source>its clock is %1 behind</source>
        <translation>時計が %1遅れています</translation>
    </message>
    <message>
        <source>its login shell prints text before every command (&quot;%1&quot;)</source>
        <translation>ログインシェルが毎回コマンドの前に文字を出力します（「%1」）</translation>
    </message>
    <message>
        <source>harmless here, though scp and sftp fail of it: keep that for interactive shells in its start files</source>
        <translation>ここでは無害ですが、scp と sftp は失敗します。対話シェルだけで出力するよう起動ファイルを直してください</translation>
    </message>
    <message>
        <source>its Slurm has no partition</source>
        <translation>Slurm にパーティションがありません</translation>
    </message>
    <message>
        <source>`sinfo` shows the same; ask whoever runs the cluster</source>
        <translation>`sinfo` でも同じ結果になります。クラスタの管理者に確認してください</translation>
    </message>
    <message>
        <source>none of its partitions is up</source>
        <translation>稼働中のパーティションがありません</translation>
    </message>
    <message>
        <source>takes jobs: %1</source>
        <translation>ジョブを受け付けます：%1</translation>
    </message>
    <message>
        <source>pip could not install LibTorch %1 there: %2</source>
        <translation>pip で LibTorch %1 をインストールできませんでした：%2</translation>
    </message>
    <message>
        <source>does that machine reach PyPI? --libtorch copy sends LibTorch from here</source>
        <translation>そのマシンは PyPI に接続できますか？--libtorch copy ならここから LibTorch を送れます</translation>
    </message>
    <message>
        <source>has %1 free in %2; LibTorch takes %3</source>
        <translation>%2 の空きは %1 です。LibTorch には %3 が必要です</translation>
    </message>
    <message>
        <source>the engine does not run there: %1</source>
        <translation>そのマシンでエンジンが動きません：%1</translation>
    </message>
    <message>
        <source>LibTorch is taken from %2 there: is it whole?</source>
        <translation>LibTorch はそのマシンの %2 のものを使っています。ファイルはそろっていますか？</translation>
    </message>
    <message>
        <source>the engine fails its self-test there: %1</source>
        <translation>そのマシンでエンジンの自己テストが失敗しました：%1</translation>
    </message>
    <message>
        <source>choose another node, and say so to whoever looks after this one</source>
        <translation>別のノードを選び、このノードの管理者に知らせてください</translation>
    </message>
    <message>
        <source>no network interface of it leads to rank 0&apos;s node, %1 (%2)</source>
        <translation>ランク 0 のノード %1（%2）に通じるネットワークインターフェースがありません</translation>
    </message>
    <message>
        <source>are the two on one network? Name first a node that all the others reach</source>
        <translation>両者は同じネットワークにありますか？ほかのすべてのノードから到達できるノードを先頭に指定してください</translation>
    </message>
    <message>
        <source>its ranks do not reach those of %1: %2</source>
        <translation>このノードのランクから %1 のランクに到達できません：%2</translation>
    </message>
    <message>
        <source>does a firewall let all TCP ports through between %3 and %4?</source>
        <translation>ファイアウォールは %3 と %4 の間のすべての TCP ポートを通しますか？</translation>
    </message>
    <message>
        <source>`ringmaster setup` installs it</source>
        <translation>`ringmaster setup` でインストールできます</translation>
    </message>
</context>
<context>
    <name>NodeWords</name>
    <message>
        <source>in use by %1 (%2)</source>
        <extracomment>processes on a GPU: %1 are names of people, %2 a size of memory</extracomment>
        <translation>%1 が使用中（%2）</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n node(s) idle</source>
        <translation>
            <numerusform>%n ノード中 %1 空き</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <extracomment>processor cores of a node of Slurm</extracomment>
        <translation>
            <numerusform>%n コア</numerusform>
        </translation>
    </message>
    <message>
        <source>at most %1</source>
        <extracomment>%1 is Slurm&apos;s time limit, such as 2-00:00:00</extracomment>
        <translation>最長 %1</translation>
    </message>
    <message>
        <source>down</source>
        <extracomment>state of a partition of Slurm</extracomment>
        <translation>停止</translation>
    </message>
    <message>
        <source>Bringing the engine there: %1 of %2</source>
        <extracomment>progress of copying the programs: %1 and %2 are sizes</extracomment>
        <translation>エンジンを送信中：%1 / %2</translation>
    </message>
    <message>
        <source>Measuring the links between the machines: %1 of %2</source>
        <translation>マシン間のリンクを測定中：%1 / %2</translation>
    </message>
    <message>
        <source>Trying it out: self-test, then the links with the others…</source>
        <translation>動作テスト中：自己テストの後、ほかのマシンとのリンクを測定…</translation>
    </message>
    <message>
        <source>Its pip installs LibTorch…</source>
        <translation>pip で LibTorch をインストール中…</translation>
    </message>
    <message>
        <source>Its pip installs LibTorch: %1 so far</source>
        <extracomment>%1 is the size downloaded so far</extracomment>
        <translation>pip で LibTorch をインストール中：%1 取得済み</translation>
    </message>
    <message>
        <source>Looking at what LibTorch needs…</source>
        <translation>LibTorch に必要なものを確認中…</translation>
    </message>
    <message>
        <source>Sending LibTorch: %1 of %2</source>
        <extracomment>progress of copying: %1 and %2 are sizes</extracomment>
        <translation>LibTorch を送信中：%1 / %2</translation>
    </message>
    <message>
        <source>Connecting, logging in, asking the machine…</source>
        <translation>接続し、ログインして、マシンを確認中…</translation>
    </message>
    <message>
        <source>none: %1</source>
        <translation>なし：%1</translation>
    </message>
    <message>
        <source>%1 each way at once, %2 µs</source>
        <extracomment>a link between two machines: %1 is a rate, %2 a number of microseconds</extracomment>
        <translation>双方向同時に各 %1、%2 µs</translation>
    </message>
    <message>
        <source>Self-test</source>
        <translation>自己テスト</translation>
    </message>
    <message>
        <source>passed in %1 with LibTorch %2, %3</source>
        <extracomment>a self-test: %1 is a duration, %2 a version, %3 how long ago</extracomment>
        <translation>%1で合格、LibTorch %2、%3</translation>
    </message>
    <message>
        <source>Interface to %1</source>
        <extracomment>%1 is a machine</extracomment>
        <translation>%1 へのインターフェース</translation>
    </message>
    <message>
        <source>Link with %1</source>
        <extracomment>%1 is a machine</extracomment>
        <translation>%1 とのリンク</translation>
    </message>
    <message>
        <source>Host name</source>
        <translation>ホスト名</translation>
    </message>
    <message>
        <source>System</source>
        <translation>システム</translation>
    </message>
    <message>
        <source>Cores</source>
        <translation>コア数</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <source>%1 of %2 free</source>
        <translation>空き %1 / %2</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>none</source>
        <translation>なし</translation>
    </message>
    <message>
        <source>NVIDIA driver</source>
        <translation>NVIDIA ドライバ</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>見つかりません</translation>
    </message>
    <message>
        <source>Files go to</source>
        <extracomment>a folder and its free space</extracomment>
        <translation>ファイルの置き場所</translation>
    </message>
    <message>
        <source>%1, %2 free</source>
        <translation>%1、空き %2</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>アドレス</translation>
    </message>
    <message>
        <source>Clock</source>
        <translation>時計</translation>
    </message>
    <message>
        <source>%1 ahead</source>
        <translation>%1進み</translation>
    </message>
    <message>
        <source>%1 behind</source>
        <translation>%1遅れ</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>このマシン</translation>
    </message>
    <message>
        <source>Slurm here</source>
        <extracomment>jobs are submitted with the commands of this machine</extracomment>
        <translation>このマシンの Slurm</translation>
    </message>
    <message>
        <source>Slurm through %1</source>
        <extracomment>%1 is a login node</extracomment>
        <translation>%1 経由の Slurm</translation>
    </message>
    <message>
        <source>checking</source>
        <extracomment>state of a node</extracomment>
        <translation>確認中</translation>
    </message>
    <message>
        <source>waiting</source>
        <extracomment>state of a node: its check has not begun</extracomment>
        <translation>待機中</translation>
    </message>
    <message>
        <source>not checked</source>
        <extracomment>state of a node</extracomment>
        <translation>未確認</translation>
    </message>
    <message>
        <source>ready</source>
        <extracomment>state of a node: it can train</extracomment>
        <translation>使用可</translation>
    </message>
    <message>
        <source>ready, with a remark</source>
        <extracomment>state of a node: it can train, and there is a remark</extracomment>
        <translation>使用可（注意あり）</translation>
    </message>
    <message>
        <source>cannot train</source>
        <extracomment>state of a node: it was reached but cannot train</extracomment>
        <translation>学習不可</translation>
    </message>
    <message>
        <source>not reached</source>
        <extracomment>state of a node</extracomment>
        <translation>接続不可</translation>
    </message>
    <message>
        <source>Eight are checked at a time.</source>
        <translation>一度に 8 台ずつ確認します。</translation>
    </message>
    <message>
        <source>Of ~/.ssh/config, without effect here</source>
        <translation>~/.ssh/config のうち、ここでは効果のないもの</translation>
    </message>
    <message>
        <source>at least %1 RAM per node</source>
        <extracomment>main memory of the nodes of a cluster: %1 is a size</extracomment>
        <translation>ノードあたり RAM %1 以上</translation>
    </message>
    <message>
        <source>%1 per GPU</source>
        <extracomment>memory of a machine&apos;s GPUs: %1 is a size</extracomment>
        <translation>GPU あたり %1</translation>
    </message>
    <message>
        <source>%1 of %2 RAM free</source>
        <extracomment>a machine&apos;s main memory: %1 and %2 are sizes</extracomment>
        <translation>RAM の空き %1 / %2</translation>
    </message>
</context>
<context>
    <name>PlanVerdict</name>
    <message>
        <source>%1 of %2 on the fullest rank</source>
        <translation>使用量最大のランクで %1（デバイス %2）</translation>
    </message>
    <message>
        <source>%1 exposed communication</source>
        <translation>隠蔽されない通信 %1</translation>
    </message>
    <message>
        <source>%1 waiting for offloaded data</source>
        <translation>オフロードしたデータの待ち %1</translation>
    </message>
    <message>
        <source>about %1 in all</source>
        <translation>合計で約 %1</translation>
    </message>
    <message>
        <source>One step takes %1: use more GPUs, a smaller model or a shorter sequence.</source>
        <translation>1 ステップに %1かかります。GPU を増やすか、モデルを小さくするか、シーケンスを短くしてください。</translation>
    </message>
    <message>
        <source>INVALID</source>
        <translation>無効</translation>
    </message>
    <message numerus="yes">
        <source>%n problem(s) before it can launch.</source>
        <translation>
            <numerusform>起動するには %n 件の問題を解決する必要があります。</numerusform>
        </translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation>%1 行目：%2</translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation>
            <numerusform>GPU %n 基</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n CPU rank(s)</source>
        <translation>
            <numerusform>CPU %n ランク</numerusform>
        </translation>
    </message>
    <message>
        <source>no splitting</source>
        <translation>分割なし</translation>
    </message>
    <message>
        <source>FITS</source>
        <translation>収まる</translation>
    </message>
    <message>
        <source>TIGHT</source>
        <translation>ぎりぎり</translation>
    </message>
    <message>
        <source>WILL NOT FIT</source>
        <translation>収まらない</translation>
    </message>
    <message>
        <source>UNKNOWN</source>
        <translation>不明</translation>
    </message>
    <message>
        <source>This machine is still being asked.</source>
        <translation>このマシンを確認中です。</translation>
    </message>
    <message>
        <source>Memory and time are not known.</source>
        <translation>メモリと時間は不明です。</translation>
    </message>
    <message>
        <source>as the file stands</source>
        <translation>ファイルの記述どおり</translation>
    </message>
    <message>
        <source>fits where the present plan does not</source>
        <translation>現在のプランは収まりませんが、これは収まります</translation>
    </message>
    <message>
        <source>layers are computed again in the backward: less memory</source>
        <translation>逆伝播で層を再計算：メモリを節約</translation>
    </message>
    <message>
        <source>activations are kept: nothing is computed twice</source>
        <translation>活性値を保持：再計算なし</translation>
    </message>
    <message>
        <source>MLPs go in tiles of tokens: less memory</source>
        <translation>MLP をトークンのタイルごとに計算：メモリを節約</translation>
    </message>
    <message>
        <source>MLPs are computed whole: nothing of them twice</source>
        <translation>MLP を一括で計算：再計算なし</translation>
    </message>
    <message>
        <source>attention&apos;s output is kept: only the rest of a layer is computed again</source>
        <translation>アテンションの出力を保持：層の残りだけを再計算</translation>
    </message>
    <message>
        <source>attention is computed again too: less memory</source>
        <translation>アテンションも再計算：メモリを節約</translation>
    </message>
    <message>
        <source>activations wait in host memory: less of the device&apos;s</source>
        <translation>活性値をホストメモリに置く：デバイスメモリを節約</translation>
    </message>
    <message>
        <source>activations stay on the device: nothing is copied</source>
        <translation>活性値をデバイスに置く：コピーなし</translation>
    </message>
    <message numerus="yes">
        <source>states are shared by %n rank(s) (ZeRO %1): less memory</source>
        <translation>
            <numerusform>状態を %n ランクで分担（ZeRO %1）：メモリを節約</numerusform>
        </translation>
    </message>
    <message>
        <source>every rank holds all states: nothing is gathered</source>
        <translation>全ランクがすべての状態を保持：all-gather なし</translation>
    </message>
    <message>
        <source>every rank holds all weights: they are gathered once a step</source>
        <translation>全ランクがすべての重みを保持：all-gather はステップに 1 回</translation>
    </message>
    <message>
        <source>every rank has the same attention work</source>
        <translation>アテンションの計算量が全ランクで均等</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence instead of %1: less is exchanged</source>
        <translation>
            <numerusform>シーケンスの分担を %1 ランクから %n ランクに：通信を削減</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence: %1 tokens on each</source>
        <translation>
            <numerusform>シーケンスを %n ランクで分担：各 %1 トークン</numerusform>
        </translation>
    </message>
    <message>
        <source>keys and values go round one ring, heads are not split</source>
        <translation>キーとバリューは 1 つのリングを巡回、ヘッドは分割なし</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) split the heads by all-to-all: fewer hops in a ring</source>
        <translation>
            <numerusform>%n ランクがヘッドを all-to-all で分割：リングのホップを削減</numerusform>
        </translation>
    </message>
    <message>
        <source>the global batch becomes %1</source>
        <translation>グローバルバッチは %1 になります</translation>
    </message>
    <message>
        <source>another layout or micro-batch</source>
        <translation>レイアウトまたはマイクロバッチが異なります</translation>
    </message>
    <message>
        <source>data parallel %1</source>
        <translation>データ並列 %1</translation>
    </message>
    <message>
        <source>ring %1</source>
        <extracomment>ranks of a mesh that pass keys and values round</extracomment>
        <translation>リング %1</translation>
    </message>
    <message>
        <source>ulysses %1</source>
        <extracomment>ranks of a mesh that split the heads; Ulysses is a name</extracomment>
        <translation>Ulysses %1</translation>
    </message>
    <message>
        <source>expert %1</source>
        <extracomment>ranks of a mesh that share the experts of a layer</extracomment>
        <translation>エキスパート %1</translation>
    </message>
</context>
<context>
    <name>Progress</name>
    <message>
        <source>computing the reference</source>
        <translation>参照モデルを計算中</translation>
    </message>
    <message>
        <source>waiting for files of rollouts</source>
        <translation>ロールアウトのファイルを待機中</translation>
    </message>
    <message>
        <source>the ranks meet</source>
        <translation>ランデブー</translation>
    </message>
    <message>
        <source>loading the model</source>
        <translation>モデルを読み込み中</translation>
    </message>
    <message>
        <source>tokenizing</source>
        <translation>トークン化</translation>
    </message>
    <message>
        <source>proving the mesh</source>
        <translation>メッシュを検証中</translation>
    </message>
    <message>
        <source>training</source>
        <translation>学習</translation>
    </message>
    <message>
        <source>saving the final model</source>
        <translation>最終モデルを保存中</translation>
    </message>
    <message>
        <source>loading the tokenizer</source>
        <translation>トークナイザを読み込み中</translation>
    </message>
    <message>
        <source>resizing the embeddings</source>
        <translation>埋め込みのサイズを変更中</translation>
    </message>
    <message>
        <source>reading %1</source>
        <translation>%1 を読み込み中</translation>
    </message>
    <message>
        <source>hashing %1</source>
        <translation>%1 のハッシュを計算中</translation>
    </message>
    <message>
        <source>fetching %1</source>
        <translation>%1 を取得中</translation>
    </message>
    <message>
        <source>verifying the checkpoint</source>
        <translation>チェックポイントを検証中</translation>
    </message>
    <message>
        <source>making the example</source>
        <translation>サンプルを作成中</translation>
    </message>
    <message>
        <source>making the Python environment</source>
        <translation>Python 環境を作成中</translation>
    </message>
    <message>
        <source>waiting for another set-up to finish</source>
        <translation>別のセットアップの終了を待機中</translation>
    </message>
    <message>
        <source>looking for the packages</source>
        <translation>パッケージを検索中</translation>
    </message>
    <message>
        <source>downloading %1</source>
        <translation>%1 をダウンロード中</translation>
    </message>
    <message>
        <source>unpacking the packages</source>
        <translation>パッケージを展開中</translation>
    </message>
    <message>
        <source>connecting to the nodes</source>
        <translation>ノードに接続中</translation>
    </message>
    <message>
        <source>connecting to %1</source>
        <translation>%1 に接続中</translation>
    </message>
    <message>
        <source>sending to %1</source>
        <translation>%1 に送信中</translation>
    </message>
    <message>
        <source>installing LibTorch on %1</source>
        <translation>%1 に LibTorch をインストール中</translation>
    </message>
    <message>
        <source>looking at what is on %1</source>
        <translation>%1 にあるものを確認中</translation>
    </message>
    <message>
        <source>waiting for the end of Slurm job %1</source>
        <translation>Slurm ジョブ %1 の終了を待機中</translation>
    </message>
    <message>
        <source>waiting for %1</source>
        <translation>%1 を待機中</translation>
    </message>
    <message>
        <source>self-test</source>
        <translation>自己テスト</translation>
    </message>
    <message>
        <source>measuring links</source>
        <translation>リンクを測定中</translation>
    </message>
    <message>
        <source>measuring: %1</source>
        <translation>測定中：%1</translation>
    </message>
    <message>
        <source>%1, %2 of %3</source>
        <extracomment>%1 is what a run does now, %2 how much of it is done, or for how long it waits; %3 the whole, or the longest time</extracomment>
        <translation>%1、%2 / %3</translation>
    </message>
    <message>
        <source>preparing the upload</source>
        <translation>アップロードの準備</translation>
    </message>
    <message>
        <source>uploading to %1</source>
        <translation>%1 へのアップロード</translation>
    </message>
    <message>
        <source>converting to GGUF</source>
        <translation>GGUF への変換</translation>
    </message>
    <message>
        <source>writing the rows</source>
        <translation>行を書き込み中</translation>
    </message>
    <message>
        <source>writing the evaluation rows</source>
        <translation>評価用の行を書き込み中</translation>
    </message>
    <message>
        <source>sending to %1 nodes</source>
        <translation>%1 台のマシンに送信中</translation>
    </message>
    <message>
        <source>waiting for the end of a step</source>
        <translation>ステップの終了を待機中</translation>
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
        <translation>待機中</translation>
    </message>
    <message>
        <source>preparing</source>
        <extracomment>state of a run</extracomment>
        <translation>準備中</translation>
    </message>
    <message>
        <source>running</source>
        <extracomment>state of a run</extracomment>
        <translation>実行中</translation>
    </message>
    <message>
        <source>stopping</source>
        <extracomment>state of a run</extracomment>
        <translation>停止中</translation>
    </message>
    <message>
        <source>completed</source>
        <extracomment>state of a run</extracomment>
        <translation>完了</translation>
    </message>
    <message>
        <source>stopped</source>
        <extracomment>state of a run</extracomment>
        <translation>停止</translation>
    </message>
    <message>
        <source>failed</source>
        <extracomment>state of a run</extracomment>
        <translation>失敗</translation>
    </message>
    <message>
        <source>damaged</source>
        <extracomment>state of a run</extracomment>
        <translation>破損</translation>
    </message>
    <message>
        <source>incomplete</source>
        <extracomment>state of a run</extracomment>
        <translation>不完全</translation>
    </message>
    <message>
        <source>Its events end at step %1, before the last.</source>
        <translation>イベントは、最後のステップより前のステップ %1 で終わっています。</translation>
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
ランク %1 はまだ終了していません：システムが許可しません</translation>
    </message>
    <message>
        <source>; transfer %1 of %2)</source>
        <translation>；%2 の転送 %1）</translation>
    </message>
    <message>
        <source> (saving after step %1</source>
        <translation>（ステップ %1 後の保存</translation>
    </message>
    <message>
        <source> (forward of the evaluation after step %1</source>
        <translation>（ステップ %1 後の評価の順伝播</translation>
    </message>
    <message>
        <source> (the evaluation after step %1</source>
        <translation>（ステップ %1 後の評価</translation>
    </message>
    <message>
        <source> (backward of step %1, micro-batch %2</source>
        <translation>（ステップ %1 の逆伝播、マイクロバッチ %2</translation>
    </message>
    <message>
        <source> (forward of step %1, micro-batch %2</source>
        <translation>（ステップ %1 の順伝播、マイクロバッチ %2</translation>
    </message>
    <message>
        <source> (step %1</source>
        <translation>（ステップ %1</translation>
    </message>
    <message>
        <source> (preflight</source>
        <translation>（事前チェック</translation>
    </message>
    <message>
        <source> (starting</source>
        <translation>（起動中</translation>
    </message>
    <message>
        <source>, for the %1 of all %2 ranks of %3</source>
        <translation>、%3 の全 %2 ランクの %1 を待機</translation>
    </message>
    <message>
        <source>, for rank %1 to take %2</source>
        <translation>、ランク %1 による %2 の受信を待機</translation>
    </message>
    <message>
        <source>, for rank %1 to send %2</source>
        <translation>、ランク %1 からの %2 の送信を待機</translation>
    </message>
    <message>
        <source> after layer %1, hop %2</source>
        <translation> 層 %1、ホップ %2 の後</translation>
    </message>
    <message>
        <source> after layer %1</source>
        <translation> 層 %1 の後</translation>
    </message>
    <message>
        <source> in layer %1, hop %2</source>
        <translation> 層 %1、ホップ %2</translation>
    </message>
    <message>
        <source> in layer %1</source>
        <translation> 層 %1</translation>
    </message>
    <message>
        <source> before the first layer</source>
        <translation> 最初の層より前</translation>
    </message>
    <message>
        <source> is at work</source>
        <translation>計算中：</translation>
    </message>
    <message>
        <source> waits</source>
        <translation>待機中：</translation>
    </message>
    <message>
        <source> is stopped; it</source>
        <translation>停止中で、</translation>
    </message>
    <message>
        <source>: it</source>
        <translation>：</translation>
    </message>
    <message>
        <source>rank %1 was stopped by %2 and not continued for %3 s</source>
        <translation>ランク %1 は %2 で停止され、%3 秒間再開されませんでした</translation>
    </message>
    <message>
        <source>
  rank %1</source>
        <translation>
  ランク %1 は</translation>
    </message>
    <message>
        <source>; rank %1</source>
        <translation>；ランク %1 は</translation>
    </message>
    <message>
        <source>completed after step %1</source>
        <translation>ステップ %1 で完了</translation>
    </message>
    <message>
        <source>preflight passed</source>
        <translation>事前チェックに合格</translation>
    </message>
    <message>
        <source>stopped by request before the first step</source>
        <translation>要求により最初のステップの前に停止</translation>
    </message>
    <message>
        <source>stopped by request after step %1</source>
        <translation>要求によりステップ %1 の後に停止</translation>
    </message>
    <message>
        <source>stopped at once by request before the first step</source>
        <translation>要求により最初のステップの前に即時停止</translation>
    </message>
    <message>
        <source>stopped at once by request after step %1</source>
        <translation>要求によりステップ %1 の後に即時停止</translation>
    </message>
    <message>
        <source>stopped at once by request, nothing was saved</source>
        <translation>要求により即時停止、何も保存されていません</translation>
    </message>
    <message>
        <source>stopped by request</source>
        <translation>要求により停止</translation>
    </message>
    <message>
        <source>interrupted before it started</source>
        <translation>開始前に中断</translation>
    </message>
    <message>
        <source>saved after step %1, its time was nearly over: waits to be started again</source>
        <translation>割り当て時間の終了が近づいたためステップ %1 の後に保存：再開を待っています</translation>
    </message>
    <message>
        <source>: the model is in %1</source>
        <translation>：モデルは %1 にあります</translation>
    </message>
    <message>
        <source>: the adapter is in %1</source>
        <translation>：アダプタは %1 にあります</translation>
    </message>
    <message>
        <source>, which is saved</source>
        <translation>（保存済み）</translation>
    </message>
    <message>
        <source>, which was not saved</source>
        <translation>（未保存）</translation>
    </message>
    <message>
        <source>; saved in %1</source>
        <translation>、%1 に保存</translation>
    </message>
    <message>
        <source>: saved in %1</source>
        <translation>：%1 に保存</translation>
    </message>
    <message>
        <source>; the last checkpoint is of step %1</source>
        <translation>、最後のチェックポイントはステップ %1 のもの</translation>
    </message>
    <message>
        <source>; no checkpoint was saved</source>
        <translation>、チェックポイントは保存されていません</translation>
    </message>
    <message>
        <source>; the newest checkpoint is of step %1</source>
        <translation>、最新のチェックポイントはステップ %1 のもの</translation>
    </message>
    <message>
        <source>; nothing was saved</source>
        <translation>、何も保存されていません</translation>
    </message>
    <message>
        <source>rank %1 was killed by signal %2 (%3)</source>
        <translation>ランク %1 がシグナル %2（%3）により強制終了</translation>
    </message>
    <message>
        <source>rank %1 ended with exit status %2</source>
        <translation>ランク %1 が終了ステータス %2 で終了</translation>
    </message>
    <message>
        <source>: out of memory</source>
        <translation>：メモリ不足</translation>
    </message>
    <message>
        <source>: %1</source>
        <translation>：%1</translation>
    </message>
    <message>
        <source>; the disk of the run directory is full</source>
        <translation>、実行ディレクトリのディスクがいっぱいです</translation>
    </message>
    <message>
        <source>every rank ended with exit status 0, but rank 0 did not report that training is done</source>
        <translation>すべてのランクが終了ステータス 0 で終了しましたが、ランク 0 が学習の完了を報告していません</translation>
    </message>
    <message>
        <source>; the end of its log:%1</source>
        <translation>、ログの末尾：%1</translation>
    </message>
    <message>
        <source>started again after: %1</source>
        <translation>次の理由の後に再起動：%1</translation>
    </message>
    <message>
        <source>its supervisor (pid %1 on host %2) is gone</source>
        <translation>実行を監視するエージェント（ホスト %2 の PID %1）がありません</translation>
    </message>
    <message>
        <source>: the machine was restarted</source>
        <translation>：マシンが再起動されました</translation>
    </message>
    <message>
        <source>Slurm job %1 reached its time limit</source>
        <translation>Slurm ジョブ %1 が制限時間に達しました</translation>
    </message>
    <message>
        <source>
`ringmaster resume RUN --slurm time=…` goes on with more time</source>
        <translation>
`ringmaster resume RUN --slurm time=…` で時間を増やして続行できます</translation>
    </message>
    <message>
        <source>Slurm job %1 ran out of the memory that Slurm gave it</source>
        <translation>Slurm ジョブ %1 が Slurm から割り当てられたメモリを使い切りました</translation>
    </message>
    <message>
        <source>
--slurm mem=… with more, a shorter sequence_len, or more ranks</source>
        <translation>
--slurm mem=… を増やすか、sequence_len を短くするか、ランクを増やしてください</translation>
    </message>
    <message>
        <source>a node of Slurm job %1%2 failed</source>
        <translation>Slurm ジョブ %1%2 のノードに障害が発生しました</translation>
    </message>
    <message>
        <source>
`ringmaster resume RUN` goes on on other nodes</source>
        <translation>
`ringmaster resume RUN` でほかのノードで続行できます</translation>
    </message>
    <message>
        <source>Slurm job %1 was preempted%2: it had to make way for another</source>
        <translation>Slurm ジョブ %1 がプリエンプトされました%2：ほかのジョブに譲りました</translation>
    </message>
    <message>
        <source>
`ringmaster resume RUN` goes on from there</source>
        <translation>
`ringmaster resume RUN` でそこから続行できます</translation>
    </message>
    <message>
        <source>node %1 is gone: its agent was killed, or the machine</source>
        <translation>ノード %1 が失われました：エージェントが強制終了されたか、マシンが停止しました</translation>
    </message>
    <message>
        <source>node %1 has been silent for %2 s: the machine or the network between</source>
        <translation>ノード %1 から %2 秒間応答がありません：マシンまたは途中のネットワークの問題です</translation>
    </message>
    <message>
        <source>node %1 was cut off: a line came on its connection that its agent did not send</source>
        <translation>ノード %1 との接続を切断しました：エージェントが送っていない行を受信しました</translation>
    </message>
    <message>
        <source>node %1 sent a description that cannot be read</source>
        <translation>ノード %1 から届いた説明を読み取れません</translation>
    </message>
    <message>
        <source>node %1 sent ends of ranks that cannot be read</source>
        <translation>ノード %1 から届いたランクの終了情報を読み取れません</translation>
    </message>
    <message>
        <source>node %1 did not come</source>
        <translation>ノード %1 が接続してきませんでした</translation>
    </message>
    <message>
        <source>node %1 did not end its ranks</source>
        <translation>ノード %1 がランクを終了しませんでした</translation>
    </message>
    <message>
        <source>Slurm job %1 was cancelled</source>
        <translation>Slurm ジョブ %1 がキャンセルされました</translation>
    </message>
    <message>
        <source>Slurm job %1 could not open agent.log in the run directory%2</source>
        <translation>Slurm ジョブ %1 が実行ディレクトリの agent.log を開けませんでした%2</translation>
    </message>
    <message>
        <source>
the run directory has to be on a file system that the nodes share: --runs-dir</source>
        <translation>
実行ディレクトリは、ノードが共有するファイルシステム上に置いてください：--runs-dir</translation>
    </message>
    <message>
        <source>Slurm job %1 ended with status %2</source>
        <translation>Slurm ジョブ %1 がステータス %2 で終了しました</translation>
    </message>
    <message>
        <source>, signal %1</source>
        <translation>、シグナル %1</translation>
    </message>
    <message>
        <source>Slurm does not know Slurm job %1 any more</source>
        <translation>Slurm は Slurm ジョブ %1 をもう認識していません</translation>
    </message>
    <message>
        <source>Slurm job %1 ended (%2) and its ranks left no last word</source>
        <translation>Slurm ジョブ %1 が終了しました（%2）。ランクは最後に何も報告していません</translation>
    </message>
    <message>
        <source>Slurm put Slurm job %1 back into its queue</source>
        <translation>Slurm が Slurm ジョブ %1 をキューに戻しました</translation>
    </message>
    <message>
        <source>Slurm job %1 was preempted: Slurm put it back into its queue</source>
        <translation>Slurm ジョブ %1 がプリエンプトされ、Slurm がキューに戻しました</translation>
    </message>
    <message>
        <source>saved as its time was nearly over, and Slurm did not take Slurm job %1 back into its queue</source>
        <translation>時間の終了が近づいたため保存しましたが、Slurm は Slurm ジョブ %1 をキューに戻しませんでした</translation>
    </message>
</context>
<context>
    <name>Verdicts</name>
    <message>
        <source>The others wait %1 of a step for it since step %2 or earlier.</source>
        <translation>遅くともステップ %2 以降、ほかのランクはステップの %1 をこのランクを待つために費やしています。</translation>
    </message>
    <message>
        <source>A rank</source>
        <translation>あるランク</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <extracomment>%1 is a rank&apos;s number, %2 its host</extracomment>
        <translation>ランク %1</translation>
    </message>
    <message>
        <source>Rank %1 on %2</source>
        <translation>%2 のランク %1</translation>
    </message>
    <message>
        <source>Resume goes on from the checkpoint of step %1.</source>
        <translation>再開すると、ステップ %1 のチェックポイントから続行します。</translation>
    </message>
    <message>
        <source>No checkpoint was saved: resume starts from the beginning.</source>
        <translation>チェックポイントがないため、再開すると最初からになります。</translation>
    </message>
    <message>
        <source>%1 has not finished a step.</source>
        <translation>%1 はまだ 1 ステップも終えていません。</translation>
    </message>
    <message>
        <source>No step for %1.</source>
        <translation>%1間、ステップが進んでいません。</translation>
    </message>
    <message>
        <source>The loss is not a number.</source>
        <translation>損失が数値ではありません。</translation>
    </message>
    <message>
        <source>It began at step %1.</source>
        <translation>ステップ %1 から始まりました。</translation>
    </message>
    <message>
        <source>Stop now and lower the learning rate or max_grad_norm.</source>
        <translation>今すぐ停止し、学習率または max_grad_norm を下げてください。</translation>
    </message>
    <message>
        <source>Stop now, lower the learning rate or max_grad_norm, and resume from step %1.</source>
        <translation>今すぐ停止し、学習率または max_grad_norm を下げて、ステップ %1 から再開してください。</translation>
    </message>
    <message>
        <source>Memory is nearly full.</source>
        <translation>メモリがほぼいっぱいです。</translation>
    </message>
    <message>
        <source>%1 uses %2 of its device at the peak.</source>
        <translation>%1 がピーク時にデバイスの %2 を使っています。</translation>
    </message>
    <message>
        <source>A longer sequence or a larger batch would not fit.</source>
        <translation>これより長いシーケンスや大きいバッチは収まりません。</translation>
    </message>
    <message>
        <source>%1 is slow.</source>
        <translation>%1 が遅れています。</translation>
    </message>
    <message>
        <source>The others wait %1 of a step for it since step %2.</source>
        <translation>ステップ %2 以降、ほかのランクはステップの %1 をこのランクを待つために費やしています。</translation>
    </message>
    <message>
        <source>Check that device: temperature, clock, other programs.</source>
        <translation>そのデバイスを確認してください：温度、クロック、ほかのプログラム。</translation>
    </message>
    <message>
        <source>The loss has jumped.</source>
        <translation>損失が急増しました。</translation>
    </message>
    <message>
        <source>At step %1 it is %2 above the usual.</source>
        <translation>ステップ %1 で通常より %2 高くなっています。</translation>
    </message>
    <message>
        <source>Watch the gradient norm; lower the learning rate if it stays.</source>
        <translation>勾配ノルムに注意し、損失が下がらなければ学習率を下げてください。</translation>
    </message>
    <message>
        <source>It has become slower.</source>
        <translation>処理が遅くなりました。</translation>
    </message>
    <message>
        <source>Tokens per second fell by %1.</source>
        <translation>トークン/秒が %1 低下しました。</translation>
    </message>
    <message>
        <source>Look for other programs on the nodes, and at the wait for data.</source>
        <translation>ノードのほかのプログラムと、データの待ち時間を確認してください。</translation>
    </message>
    <message>
        <source>Much waiting for communication.</source>
        <translation>通信の待ち時間が多くなっています。</translation>
    </message>
    <message>
        <source>%1 of a step is exposed communication.</source>
        <translation>ステップの %1 が隠蔽されない通信です。</translation>
    </message>
    <message>
        <source>Other plans on the Plan page may expose less.</source>
        <translation>プランページの「より良いプラン」で減らせる場合があります。</translation>
    </message>
    <message>
        <source>Its files cannot be read any more.</source>
        <translation>ファイルを読み取れなくなりました。</translation>
    </message>
    <message>
        <source>What is shown was read before.</source>
        <translation>以前に読み取った内容を表示しています。</translation>
    </message>
    <message>
        <source>Completed.</source>
        <translation>完了しました。</translation>
    </message>
    <message>
        <source>The result is in %1.</source>
        <translation>結果は %1 にあります。</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>停止しました。</translation>
    </message>
    <message>
        <source>Failed.</source>
        <translation>失敗しました。</translation>
    </message>
    <message>
        <source>Waiting to start.</source>
        <translation>開始を待っています。</translation>
    </message>
    <message>
        <source>Starting.</source>
        <translation>開始しています。</translation>
    </message>
    <message>
        <source>Now: %1.</source>
        <translation>現在：%1。</translation>
    </message>
    <message>
        <source>Running well.</source>
        <translation>順調に実行中です。</translation>
    </message>
    <message>
        <source>Running.</source>
        <translation>実行中です。</translation>
    </message>
    <message>
        <source>%1 of a step is exposed communication; no rank holds the others up.</source>
        <translation>ステップの %1 が隠蔽されない通信です。ほかを待たせているランクはありません。</translation>
    </message>
    <message>
        <source>Saving the final model.</source>
        <translation>最終モデルを保存しています。</translation>
    </message>
    <message>
        <source>Stopping.</source>
        <translation>停止しています。</translation>
    </message>
    <message>
        <source>The step is finished and a checkpoint saved.</source>
        <translation>ステップを終え、チェックポイントを保存してから停止します。</translation>
    </message>
    <message>
        <source>Disconnected.</source>
        <translation>切断されました。</translation>
    </message>
    <message>
        <source>Last heard %1.</source>
        <translation>最後の受信：%1。</translation>
    </message>
    <message>
        <source>The run may well go on; what is known stays here.</source>
        <translation>実行は続いている可能性があります。これまでの内容はここに残ります。</translation>
    </message>
    <message>
        <source>Waiting for rollouts.</source>
        <translation>ロールアウトを待っています。</translation>
    </message>
    <message>
        <source>The next step begins when its files are in the folder.</source>
        <translation>ファイルがフォルダに届くと、次のステップが始まります。</translation>
    </message>
    <message>
        <source>The last finished step is %1.</source>
        <translation>最後に完了したステップは %1 です。</translation>
    </message>
    <message>
        <source>No rank has finished a step.</source>
        <translation>ステップを完了したランクはありません。</translation>
    </message>
    <message>
        <source>%1 stopped first, after step %2.</source>
        <translation>最初に止まったのは %1 で、ステップ %2 の後です。</translation>
    </message>
    <message>
        <source>The last phase was %1.</source>
        <translation>最後のフェーズは「%1」でした。</translation>
    </message>
    <message>
        <source>Look at the log; stop now and resume if it does not come back.</source>
        <translation>ログを確認し、回復しなければ、今すぐ停止して再開してください。</translation>
    </message>
</context>
<context>
    <name>ringmaster::AdaptDialog</name>
    <message>
        <source>Make it run</source>
        <translation>実行できるように変更</translation>
    </message>
    <message>
        <source>With these changes the plan works.</source>
        <translation>次の変更で、このプランは実行できます。</translation>
    </message>
    <message>
        <source>The plan does not work yet.</source>
        <translation>このプランはまだ実行できません。</translation>
    </message>
    <message>
        <source>Result: %1</source>
        <translation>結果：%1</translation>
    </message>
    <message>
        <source>Memory of the fullest rank: %1</source>
        <translation>使用量最大のランクのメモリ：%1</translation>
    </message>
    <message>
        <source>Global batch: %1 instead of %2</source>
        <translation>グローバルバッチ：%2 から %1 に</translation>
    </message>
    <message>
        <source>Missing:</source>
        <translation>不足：</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>変更</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>適用</translation>
    </message>
</context>
<context>
    <name>ringmaster::AddTarget</name>
    <message>
        <source>Add</source>
        <translation>追加</translation>
    </message>
    <message>
        <source>Kind of target</source>
        <translation>ターゲットの種類</translation>
    </message>
    <message>
        <source>Machine over SSH</source>
        <translation>SSH のマシン</translation>
    </message>
    <message>
        <source>Slurm of this machine</source>
        <translation>このマシンの Slurm</translation>
    </message>
    <message>
        <source>Slurm through a login node</source>
        <translation>ログインノード経由の Slurm</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>マシン</translation>
    </message>
    <message>
        <source>A host of ~/.ssh/config, or [user@]host[:port]</source>
        <translation>~/.ssh/config のホスト、または [ユーザー@]ホスト[:ポート]</translation>
    </message>
    <message>
        <source>[user@]host[:port]</source>
        <translation>[ユーザー@]ホスト[:ポート]</translation>
    </message>
</context>
<context>
    <name>ringmaster::AdviceCard</name>
    <message>
        <source>Other plans</source>
        <translation>ほかのプラン</translation>
    </message>
    <message>
        <source>ranked by predicted tokens/s</source>
        <translation>予測トークン/秒の順</translation>
    </message>
    <message>
        <source>Nothing is planned yet.</source>
        <translation>プランはまだありません。</translation>
    </message>
    <message>
        <source>Show fewer</source>
        <translation>表示を減らす</translation>
    </message>
    <message numerus="yes">
        <source>Show %n more</source>
        <translation>
            <numerusform>さらに %n 件表示</numerusform>
        </translation>
    </message>
    <message>
        <source>Ranked as if the problems of the text were solved.</source>
        <translation>ファイルの問題が解決したものとして順位付けしています。</translation>
    </message>
    <message>
        <source>The present plan is the fastest; these would be the next.</source>
        <translation>現在のプランが最速です。以下は次に速いものです。</translation>
    </message>
    <message>
        <source>No other mesh of this text can be trained as it stands.</source>
        <translation>この設定のままで学習できる別のメッシュはありません。</translation>
    </message>
    <message>
        <source>Nothing can be ranked: the model&apos;s shape is not known here.</source>
        <translation>モデルの形状がここでは不明なため、順位を付けられません。</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>適用</translation>
    </message>
    <message>
        <source>Writes into the text:</source>
        <translation>ファイルに書き込む内容：</translation>
    </message>
    <message>
        <source>Apply %1</source>
        <translation>%1 を適用</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 トークン/秒</translation>
    </message>
    <message>
        <source>%1 exposed</source>
        <extracomment>share of a step spent on communication that computation does not hide</extracomment>
        <translation>非隠蔽 %1</translation>
    </message>
</context>
<context>
    <name>ringmaster::AlertsDialog</name>
    <message>
        <source>Show a notification on this desktop</source>
        <translation>このデスクトップに通知を表示</translation>
    </message>
    <message>
        <source>Alerts</source>
        <translation>アラート</translation>
    </message>
    <message>
        <source>All charts mark alerts. The app shows those of the run in Monitor on this desktop. The webhook and the command belong to the runs that are made from now on: the machine of a run&apos;s first node calls them, even when this window is closed.</source>
        <translation>アラートの発生位置は、すべてのグラフに印で示します。このデスクトップには、モニターで開いている実行のアラートを表示します。Webhook とコマンドは、これから作る実行に適用されます。このウィンドウが閉じていても、実行の最初のノードのマシンがそれらを呼び出します。</translation>
    </message>
    <message>
        <source>The webhook gets a POST with JSON. The command is run without a shell: the message is its last argument, and the JSON is on its input.</source>
        <translation>Webhook には JSON を POST します。コマンドはシェルを使わずに実行します。メッセージは最後の引数に、JSON は標準入力に渡します。</translation>
    </message>
    <message>
        <source>Webhook</source>
        <translation>Webhook</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>コマンド</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>The settings cannot be read.</source>
        <translation>設定を読み取れません。</translation>
    </message>
    <message>
        <source>Tell me when</source>
        <translation>次のときに知らせる</translation>
    </message>
    <message>
        <source>The settings were not saved.</source>
        <translation>設定は保存されませんでした。</translation>
    </message>
    <message>
        <source>Saving replaces them.</source>
        <translation>保存すると置き換えられます。</translation>
    </message>
    <message>
        <source>A quotation mark in the command is not closed.</source>
        <translation>コマンドの引用符が閉じていません。</translation>
    </message>
    <message>
        <source>Add the second quote.</source>
        <translation>閉じる引用符を追加してください。</translation>
    </message>
    <message>
        <source>The webhook is not an address that begins with https:// or http://.</source>
        <translation>Webhook が https:// または http:// で始まるアドレスではありません。</translation>
    </message>
    <message>
        <source>Paste the address as the service shows it.</source>
        <translation>サービスに表示されるアドレスをそのまま貼り付けてください。</translation>
    </message>
    <message>
        <source>The command has to begin with a program, and may have at most 63 arguments of at most 4,096 characters.</source>
        <translation>コマンドはプログラムで始まり、その後に引数を 63 個まで（それぞれ 4,096 文字以内）指定できます。</translation>
    </message>
    <message>
        <source>Name a program and its arguments, or leave the field empty.</source>
        <translation>プログラムと引数を指定するか、空欄にしてください。</translation>
    </message>
</context>
<context>
    <name>ringmaster::AttentionCard</name>
    <message>
        <source>Attention kernels</source>
        <translation>アテンションカーネル</translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>上の問題を解決するまで不明です。</translation>
    </message>
    <message>
        <source>Not known yet: the model&apos;s shape is missing.</source>
        <translation>モデルの形状がないため、まだ不明です。</translation>
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
        <translation>上の問題を解決するまで不明です。</translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation>グローバルバッチ</translation>
    </message>
    <message>
        <source>Changes gradient_accumulation_steps in the text; undo takes it back</source>
        <translation>ファイルの gradient_accumulation_steps を変更します。元に戻せます。</translation>
    </message>
    <message>
        <source>Global batch: %1</source>
        <translation>グローバルバッチ：%1</translation>
    </message>
    <message>
        <source>Keep %1: accumulate %2</source>
        <translation>%1 を維持：累積 %2</translation>
    </message>
    <message numerus="yes">
        <source>%1 becomes %2: %n rank(s) share one sequence.</source>
        <translation>
            <numerusform>%n ランクでシーケンスを分担するため、%1 は %2 になります。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>row(s) a step</source>
        <extracomment>below a figure, the number of the rows</extracomment>
        <translation>
            <numerusform>行（1 ステップあたり）</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 micro × %2 accumulation × (%n rank(s) ÷ %3)</source>
        <translation>
            <numerusform>マイクロ %1 × 累積 %2 ×（%n ランク ÷ %3）</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens a step</source>
        <translation>1 ステップ %1 トークン</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>%1 ステップ</translation>
    </message>
</context>
<context>
    <name>ringmaster::ChartCard</name>
    <message>
        <source>Menu of the chart %1</source>
        <translation>グラフ「%1」のメニュー</translation>
    </message>
    <message>
        <source>Save the chart, or see all of it</source>
        <translation>グラフの保存、全体の表示</translation>
    </message>
    <message>
        <source>Save picture…</source>
        <translation>画像を保存…</translation>
    </message>
    <message>
        <source>Pictures (*.png)</source>
        <translation>画像 (*.png)</translation>
    </message>
    <message>
        <source>Save figures…</source>
        <translation>数値を保存…</translation>
    </message>
    <message>
        <source>Figures (*.csv)</source>
        <translation>数値 (*.csv)</translation>
    </message>
    <message>
        <source>Show all of it</source>
        <translation>全体を表示</translation>
    </message>
    <message>
        <source>The picture cannot be written there.</source>
        <translation>そこには画像を書き込めません。</translation>
    </message>
</context>
<context>
    <name>ringmaster::CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>コマンド</translation>
    </message>
    <message>
        <source>Type what you want to do</source>
        <translation>やりたいことを入力</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>コマンド</translation>
    </message>
    <message>
        <source>Commands that match</source>
        <translation>一致するコマンド</translation>
    </message>
    <message>
        <source>No command matches.</source>
        <translation>一致するものがありません。</translation>
    </message>
</context>
<context>
    <name>ringmaster::CompareView</name>
    <message>
        <source>Nothing differs in what was asked for.</source>
        <translation>設定に違いはありません。</translation>
    </message>
    <message>
        <source>Figures of the compared runs</source>
        <translation>比較する実行の数値</translation>
    </message>
    <message>
        <source>Lines that differ</source>
        <translation>異なる行</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>すべての実行</translation>
    </message>
    <message>
        <source>Back to the table (Esc)</source>
        <translation>一覧に戻る (Esc)</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比較</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>トークン/秒</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>勾配ノルム</translation>
    </message>
    <message>
        <source>Saved %1.</source>
        <translation>%1 を保存しました。</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>数値</translation>
    </message>
    <message>
        <source>against the first run</source>
        <translation>最初の実行との比較</translation>
    </message>
    <message>
        <source>What differs</source>
        <translation>相違点</translation>
    </message>
    <message>
        <source>in the configuration and, grey, in the plan</source>
        <translation>設定の相違点（灰色はプランの相違点）</translation>
    </message>
    <message>
        <source>X axis</source>
        <translation>横軸</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>トークン</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>時間</translation>
    </message>
    <message>
        <source>Over completed steps</source>
        <translation>完了したステップ</translation>
    </message>
    <message>
        <source>Over the tokens trained on</source>
        <translation>学習したトークン数</translation>
    </message>
    <message>
        <source>Over the seconds spent in steps: without pauses, saving and evaluation</source>
        <translation>ステップに費やした秒数（休止、保存、評価を除く）</translation>
    </message>
    <message>
        <source>Logarithmic</source>
        <translation>対数</translation>
    </message>
    <message>
        <source>Loss on a logarithmic axis</source>
        <translation>損失を対数軸で表示</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>実行 %n 件</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 has no steps yet.</source>
        <translation>%1 にはまだステップがありません。</translation>
    </message>
    <message>
        <source>Not everything can be compared.</source>
        <translation>一部は比較できません。</translation>
    </message>
    <message>
        <source>Reward</source>
        <translation>報酬</translation>
    </message>
    <message>
        <source>Clipped ratios</source>
        <translation>クリップされた比率</translation>
    </message>
    <message>
        <source>Gap to the sampling server</source>
        <translation>サンプリングサーバーとの差</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>隠蔽されない通信</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>ステップ</translation>
    </message>
</context>
<context>
    <name>ringmaster::ContextCard</name>
    <message>
        <source>Context parallel size</source>
        <translation>コンテキスト並列サイズ</translation>
    </message>
    <message>
        <source>Context parallel size %1</source>
        <translation>コンテキスト並列サイズ %1</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share one sequence</source>
        <translation>
            <numerusform>シーケンスを %n ランクで分担</numerusform>
        </translation>
    </message>
    <message>
        <source>The size has to divide %1.</source>
        <translation>サイズは %1 の約数でなければなりません。</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share one sequence of %1 tokens: %2 each.</source>
        <translation>
            <numerusform>%1 トークンのシーケンスを %n ランクで分担します（各 %2）。</numerusform>
        </translation>
    </message>
    <message>
        <source>Every rank holds whole sequences of %1 tokens.</source>
        <translation>各ランクが %1 トークンのシーケンス全体を持ちます。</translation>
    </message>
    <message>
        <source>One rank holds whole sequences of %1 tokens.</source>
        <translation>1 つのランクが %1 トークンのシーケンス全体を持ちます。</translation>
    </message>
</context>
<context>
    <name>ringmaster::DataPage</name>
    <message>
        <source>tokens in the longest row kept</source>
        <translation>使用する最長の行のトークン数</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>ランク %1</translation>
    </message>
    <message>
        <source>ranks %1 to %2</source>
        <translation>ランク %1〜%2</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n トークン</numerusform>
        </translation>
    </message>
    <message>
        <source>rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>トークン</translation>
    </message>
    <message>
        <source>of the tokens are trained</source>
        <translation>学習対象のトークンの割合</translation>
    </message>
    <message>
        <source>tokens in the longest document kept</source>
        <translation>使用する最長の文書のトークン数</translation>
    </message>
    <message>
        <source>rows, packed from documents</source>
        <translation>行（文書をパッキング）</translation>
    </message>
    <message>
        <source>No rows are shown yet</source>
        <translation>行はまだ表示されていません</translation>
    </message>
    <message>
        <source>Open a configuration on the Plan page and press Rows. You see the text after the template, and which tokens are trained.</source>
        <translation>プランページで設定を開き、「行を表示」を押してください。テンプレート適用後のテキストと、学習対象のトークンを確認できます。</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>開く…</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>データ</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>All rows</source>
        <translation>すべての行</translation>
    </message>
    <message>
        <source>As the model reads it</source>
        <translation>モデルが読む内容</translation>
    </message>
    <message>
        <source>underlined: trained · grey: read only · bold: a special token</source>
        <translation>下線：学習対象 · 灰色：読むだけ · 太字：特殊トークン</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Search the text of all rows</source>
        <translation>すべての行のテキストを検索</translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) hold it</source>
        <translation>
            <numerusform>%n 行に含まれています</numerusform>
        </translation>
    </message>
    <message>
        <source>Show the rows of %1</source>
        <translation>%1 の行を表示</translation>
    </message>
    <message>
        <source>Reading the configuration</source>
        <translation>設定を読み込み中</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation>%1：%2 / %3</translation>
    </message>
    <message>
        <source>The rows cannot be shown.</source>
        <translation>行を表示できません。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>セットアップ</translation>
    </message>
    <message>
        <source>%1 left out: longer than sequence_len</source>
        <translation>%1 行を除外：sequence_len より長い</translation>
    </message>
    <message>
        <source>%1 left out: too short</source>
        <translation>%1 行を除外：短すぎる</translation>
    </message>
    <message>
        <source>%1 cut to sequence_len</source>
        <translation>%1 行を sequence_len で切り詰め</translation>
    </message>
    <message>
        <source>%1 documents are packed into %2 rows, %3 full</source>
        <translation>%1 ドキュメントを %2 行にパッキング（充填率 %3）</translation>
    </message>
    <message>
        <source>%1 more rows evaluate</source>
        <translation>ほかに %1 行を評価に使用</translation>
    </message>
    <message>
        <source>There is no tokenizer.json here: tokens are shown as numbers.</source>
        <translation>ここには tokenizer.json がないため、トークンを番号で表示します。</translation>
    </message>
    <message>
        <source>%1 rows repeat an earlier one: row %2 is row %3 again</source>
        <translation>%1 行が前の行と重複：行 %2 は行 %3 と同じ</translation>
    </message>
    <message>
        <source>Row %1</source>
        <translation>行 %1</translation>
    </message>
    <message>
        <source>%1 tokens, %2 trained</source>
        <translation>%1 トークン、学習対象 %2</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>ほか %n 件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n document(s)</source>
        <translation>
            <numerusform>%n ドキュメント</numerusform>
        </translation>
    </message>
    <message>
        <source>step %1 of the first epoch on %2</source>
        <extracomment>when and where a row is trained on: &quot;step 12 of the first epoch on ranks 0 to 3&quot;</extracomment>
        <translation>最初のエポックのステップ %1（%2）</translation>
    </message>
    <message>
        <source>searching…</source>
        <translation>検索中…</translation>
    </message>
    <message>
        <source>%1, line %2</source>
        <translation>%1 の %2 行目</translation>
    </message>
    <message>
        <source>%1, row %2</source>
        <translation>%1 の %2 行目</translation>
    </message>
    <message>
        <source>Answers of a row share their prompt: %1 of the tokens are not computed again</source>
        <translation>行の中の回答はプロンプトを共有します：トークンの %1 は再計算されません</translation>
    </message>
</context>
<context>
    <name>ringmaster::DetailsPanel</name>
    <message>
        <source>step</source>
        <translation>ステップ</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>on %1</source>
        <translation>%1 で実行</translation>
    </message>
    <message>
        <source>for Slurm</source>
        <translation>Slurm 用</translation>
    </message>
    <message>
        <source>Slurm job %1</source>
        <extracomment>%1 is the number of a job, %2 a login node</extracomment>
        <translation>Slurm ジョブ %1</translation>
    </message>
    <message>
        <source>Slurm job %1 of %2</source>
        <translation>%2 の Slurm ジョブ %1</translation>
    </message>
    <message>
        <source>Open in Monitor</source>
        <translation>モニターで開く</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>再開</translation>
    </message>
    <message>
        <source>Duplicate into Plan</source>
        <translation>プランとして複製</translation>
    </message>
    <message>
        <source>Resume from here</source>
        <translation>ここから再開</translation>
    </message>
    <message>
        <source>File</source>
        <translation>ファイル</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>サイズ</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>更新日時</translation>
    </message>
    <message>
        <source>Files of the run</source>
        <translation>実行のファイル</translation>
    </message>
    <message>
        <source>Configuration of the run</source>
        <translation>実行の設定</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>概要</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>メモ</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>チェックポイント</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>設定</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>ファイル</translation>
    </message>
    <message>
        <source>Chosen run</source>
        <translation>選択した実行</translation>
    </message>
    <message>
        <source>Open in Monitor (Enter)</source>
        <translation>モニターで開く (Enter)</translation>
    </message>
    <message>
        <source>More</source>
        <translation>その他</translation>
    </message>
    <message>
        <source>More actions for this run</source>
        <translation>この実行のその他の操作</translation>
    </message>
    <message>
        <source>Save diagnostics…</source>
        <translation>診断情報を保存…</translation>
    </message>
    <message>
        <source>Export as CSV…</source>
        <translation>CSV でエクスポート…</translation>
    </message>
    <message>
        <source>Export for TensorBoard…</source>
        <translation>TensorBoard 用にエクスポート…</translation>
    </message>
    <message>
        <source>Bring model or checkpoint here…</source>
        <translation>モデルやチェックポイントを取得…</translation>
    </message>
    <message>
        <source>Open the run&apos;s folder</source>
        <translation>実行のフォルダを開く</translation>
    </message>
    <message>
        <source>Open the trained model&apos;s folder</source>
        <translation>学習済みモデルのフォルダを開く</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>削除…</translation>
    </message>
    <message>
        <source>best loss</source>
        <translation>最小の損失</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>Loss of the chosen run</source>
        <translation>選択した実行の損失</translation>
    </message>
    <message>
        <source>No step yet</source>
        <translation>ステップはまだありません</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>チェックポイント</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>保存日時</translation>
    </message>
    <message>
        <source>Complete checkpoints</source>
        <translation>完全なチェックポイント</translation>
    </message>
    <message>
        <source>No run is chosen</source>
        <translation>実行が選択されていません</translation>
    </message>
    <message>
        <source>This run&apos;s files are damaged.</source>
        <translation>この実行のファイルは破損しています。</translation>
    </message>
    <message>
        <source>It failed.</source>
        <translation>失敗しました。</translation>
    </message>
    <message>
        <source>%1 tokens a sequence</source>
        <translation>1 シーケンス %1 トークン</translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) a step</source>
        <translation>
            <numerusform>1 ステップ %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>started %1</source>
        <translation>開始 %1</translation>
    </message>
    <message>
        <source>ran %1</source>
        <translation>実行時間 %1</translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>試行 %1</translation>
    </message>
    <message>
        <source>Goes on from the newest complete checkpoint</source>
        <translation>最新の完全なチェックポイントから続行します</translation>
    </message>
    <message>
        <source>Only a run that stopped or failed can go on</source>
        <translation>再開できるのは、停止または失敗した実行だけです</translation>
    </message>
    <message>
        <source>Checkpoints (%1)</source>
        <translation>チェックポイント（%1）</translation>
    </message>
    <message>
        <source>No checkpoint was saved to its end yet.</source>
        <translation>最後まで保存されたチェックポイントはまだありません。</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>ステップ %1</translation>
    </message>
    <message>
        <source>Try the trained model…</source>
        <translation>学習済みモデルを試す…</translation>
    </message>
    <message>
        <source>mean tokens/s</source>
        <translation>トークン/秒（平均）</translation>
    </message>
    <message>
        <source>exposed communication (last steps)</source>
        <translation>隠蔽されない通信（直近のステップの平均）</translation>
    </message>
    <message>
        <source>running for %1</source>
        <extracomment>%1 is a duration such as 1 min 40 s</extracomment>
        <translation>実行時間 %1</translation>
    </message>
</context>
<context>
    <name>ringmaster::EstimateBars</name>
    <message>
        <source>Estimate beside measurement</source>
        <translation>推定と実測</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>ステップ時間</translation>
    </message>
    <message>
        <source>not measured yet</source>
        <translation>未測定</translation>
    </message>
    <message>
        <source>not estimated</source>
        <translation>推定なし</translation>
    </message>
    <message>
        <source>as estimated</source>
        <translation>推定どおり</translation>
    </message>
    <message>
        <source>%1 times the estimate</source>
        <translation>推定の %1 倍</translation>
    </message>
    <message>
        <source>%1 of the estimate</source>
        <translation>推定の %1</translation>
    </message>
    <message>
        <source>%1 below the estimate</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation>推定を %1 下回る</translation>
    </message>
    <message>
        <source>%1 above the estimate</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation>推定を %1 上回る</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>推定</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>実測</translation>
    </message>
    <message>
        <source>%1 points below the estimate</source>
        <extracomment>of two shares; %1 is a number of percentage points</extracomment>
        <translation>推定を %1 ポイント下回る</translation>
    </message>
    <message>
        <source>%1 points above the estimate</source>
        <extracomment>of two shares; %1 is a number of percentage points</extracomment>
        <translation>推定を %1 ポイント上回る</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>隠蔽されない通信</translation>
    </message>
    <message>
        <source>Tensors of the fullest rank</source>
        <translation>使用量最大のランクのテンソル</translation>
    </message>
</context>
<context>
    <name>ringmaster::ExpertsCard</name>
    <message>
        <source>Tokens for a rank&apos;s experts</source>
        <translation>ランクのエキスパートが受け取るトークン</translation>
    </message>
    <message>
        <source>Tokens that a rank&apos;s experts receive</source>
        <translation>1 つのランクのエキスパートが受け取るトークン数</translation>
    </message>
    <message>
        <source>Legend of the tokens</source>
        <translation>トークンの凡例</translation>
    </message>
    <message>
        <source>In one layer and micro-batch; a token counts once for each of its experts. At worst, all tokens choose experts of one rank.</source>
        <translation>1 つの層とマイクロバッチでの値です。トークンは、選んだエキスパートごとに 1 回ずつ数えます。最悪の場合、すべてのトークンが同じランクのエキスパートを選びます。</translation>
    </message>
    <message>
        <source>if the load is even</source>
        <translation>負荷が均等な場合</translation>
    </message>
    <message>
        <source>at worst</source>
        <translation>最悪の場合</translation>
    </message>
    <message>
        <source>%1 of %2 experts a rank</source>
        <translation>ランクあたり %1 / %2 エキスパート</translation>
    </message>
</context>
<context>
    <name>ringmaster::FetchDialog</name>
    <message>
        <source>Each file is verified by its hash. Files that are here already are not sent; an interrupted file goes on where it stopped.</source>
        <translation>各ファイルをハッシュで検証します。すでにあるものは転送せず、中断したものは続きから取得します。</translation>
    </message>
    <message>
        <source>What the run has made</source>
        <translation>実行の成果物</translation>
    </message>
    <message>
        <source>Connecting, logging in, asking the machine…</source>
        <translation>接続し、ログインして、マシンを確認中…</translation>
    </message>
    <message>
        <source>The trained model</source>
        <translation>学習済みモデル</translation>
    </message>
    <message>
        <source>Checkpoint of step %1</source>
        <translation>ステップ %1 のチェックポイント</translation>
    </message>
    <message>
        <source>There is nothing yet.</source>
        <translation>まだ何もありません。</translation>
    </message>
    <message>
        <source>No checkpoint was saved to its end, and the run has not completed.</source>
        <translation>最後まで保存されたチェックポイントがなく、実行も完了していません。</translation>
    </message>
    <message>
        <source>Comparing what is here and there…</source>
        <translation>ここにあるものと比較中…</translation>
    </message>
    <message>
        <source>It is here.</source>
        <translation>取得しました。</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s), %1, of which %2 came now</source>
        <extracomment>%n is a number of files, %1 and %2 are sizes</extracomment>
        <translation>
            <numerusform>%n ファイル、%1（うち今回取得 %2）</numerusform>
        </translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Fetch what %1 has made</source>
        <extracomment>%1 is the name of a run</extracomment>
        <translation>%1 の成果物を取得</translation>
    </message>
    <message>
        <source>Fetch</source>
        <translation>取得</translation>
    </message>
</context>
<context>
    <name>ringmaster::FiguresModel</name>
    <message>
        <source>Last loss</source>
        <translation>最後の損失</translation>
    </message>
    <message>
        <source>Best loss</source>
        <translation>最小の損失</translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation>評価損失</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>ステップ時間</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>ピークメモリ</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>所要時間</translation>
    </message>
    <message>
        <source>Memory ÷ estimate</source>
        <translation>メモリ ÷ 推定</translation>
    </message>
    <message>
        <source>Step time ÷ estimate</source>
        <translation>ステップ時間 ÷ 推定</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>同じ</translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>%1 増</translation>
    </message>
    <message>
        <source>%1 less</source>
        <translation>%1 減</translation>
    </message>
    <message>
        <source>better by %1</source>
        <extracomment>%1 is a difference such as 7 % or 1.4 points</extracomment>
        <translation>%1 改善</translation>
    </message>
    <message>
        <source>worse by %1</source>
        <extracomment>%1 is a difference such as 7 % or 1.4 points</extracomment>
        <translation>%1 悪化</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>項目</translation>
    </message>
    <message>
        <source>Last reward</source>
        <translation>最後の報酬</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>隠蔽されない通信</translation>
    </message>
    <message>
        <source>about the same</source>
        <translation>ほぼ同じ</translation>
    </message>
    <message>
        <source>%1 points</source>
        <extracomment>%1 is a difference of percentages: from 8 % to 6 % are 2 points</extracomment>
        <translation>%1 ポイント</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>トークン/秒</translation>
    </message>
</context>
<context>
    <name>ringmaster::FindBar</name>
    <message>
        <source>Find</source>
        <translation>検索</translation>
    </message>
    <message>
        <source>Find in the text</source>
        <translation>テキストを検索</translation>
    </message>
    <message>
        <source>Previous (Shift+Enter)</source>
        <translation>前へ (Shift+Enter)</translation>
    </message>
    <message>
        <source>Next (Enter)</source>
        <translation>次へ (Enter)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>閉じる (Esc)</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>見つかりません</translation>
    </message>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>%n 件</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::FollowDialog</name>
    <message>
        <source>Nothing of Ringmaster is on %1: no run was ever launched there.</source>
        <translation>%1 に Ringmaster のファイルはありません。ここで実行が起動されたことはありません。</translation>
    </message>
    <message>
        <source>No run was launched on %1 over SSH. Those that were started on the machine itself are watched there.</source>
        <translation>%1 で SSH 経由で起動された実行はありません。そのマシン自身で開始した実行は、そのマシンで確認してください。</translation>
    </message>
    <message>
        <source>There is no run on %1.</source>
        <translation>%1 に実行はありません。</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>追跡</translation>
    </message>
    <message>
        <source>Show its runs</source>
        <translation>実行を表示</translation>
    </message>
    <message>
        <source>Runs on that machine</source>
        <translation>そのマシンの実行</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>実行</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状態</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>開始日時</translation>
    </message>
    <message>
        <source>Last step</source>
        <translation>最後のステップ</translation>
    </message>
    <message>
        <source>Machine that the run is on</source>
        <translation>実行のあるマシン</translation>
    </message>
    <message>
        <source>A host of ~/.ssh/config, or [user@]host[:port]: one of the run&apos;s nodes, or all of them in their order with commas between them. Those alone are contacted.</source>
        <translation>~/.ssh/config のホスト、または [ユーザー@]ホスト[:ポート]。実行のノードの 1 つ、または全ノードを順番どおりにコンマ区切りで。指定したものにだけ接続します。</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>マシン</translation>
    </message>
    <message>
        <source>Connecting, logging in, asking the machine…</source>
        <translation>接続し、ログインして、マシンを確認中…</translation>
    </message>
    <message>
        <source>Nothing to follow.</source>
        <translation>実行を取得できませんでした。</translation>
    </message>
    <message>
        <source>A Slurm job is followed on the machine that submitted it.</source>
        <translation>Slurm のジョブは、投入したマシンで追跡します。</translation>
    </message>
    <message>
        <source>Looking at the run…</source>
        <translation>実行を確認中…</translation>
    </message>
    <message>
        <source>Follow a run on another machine</source>
        <translation>別のマシンの実行を追跡</translation>
    </message>
    <message>
        <source>You can follow any run that was launched over SSH, from whatever machine. Following it starts and stops nothing. You can stop it, resume it and fetch its model from here, like a run of your own.</source>
        <translation>どのマシンからであれ、SSH 経由で起動された実行なら追跡できます。追跡しても、何も開始も停止もしません。自分の実行と同じように、ここから停止、再開、モデルの取得ができます。</translation>
    </message>
    <message>
        <source>Not read yet.</source>
        <translation>まだ読み込まれていません。</translation>
    </message>
    <message>
        <source>[user@]host[:port]</source>
        <translation>[ユーザー@]ホスト[:ポート]</translation>
    </message>
</context>
<context>
    <name>ringmaster::HeatMap</name>
    <message>
        <source>Ranks over time</source>
        <translation>ランクの推移</translation>
    </message>
    <message numerus="yes">
        <source>%n ranks against their median.</source>
        <translation>
            <numerusform>%n ランクと中央値の比較。</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is slower now.</source>
        <translation>現在遅いのは %1 です。</translation>
    </message>
    <message>
        <source>faster</source>
        <extracomment>colours of a heat map&apos;s scale: text on its left, text on its right</extracomment>
        <translation>速い</translation>
    </message>
    <message>
        <source>slower by a quarter or more</source>
        <translation>25&#x202f;% 以上遅い</translation>
    </message>
    <message>
        <source>Nothing to compare yet.</source>
        <translation>比較できるものはまだありません。</translation>
    </message>
    <message>
        <source>%1: %2, %3 slower than the median</source>
        <translation>%1：%2、中央値より %3 遅い</translation>
    </message>
    <message>
        <source>%1: %2, %3 faster than the median</source>
        <translation>%1：%2、中央値より %3 速い</translation>
    </message>
</context>
<context>
    <name>ringmaster::HelpPage</name>
    <message>
        <source>Search help</source>
        <translation>ヘルプを検索</translation>
    </message>
    <message>
        <source>Search help (%1)</source>
        <translation>ヘルプを検索 (%1)</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>項目</translation>
    </message>
    <message>
        <source>Explanation</source>
        <translation>説明</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>ヘルプ</translation>
    </message>
    <message>
        <source>First steps</source>
        <translation>はじめに</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>指標</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>メッセージ</translation>
    </message>
</context>
<context>
    <name>ringmaster::KeysCard</name>
    <message>
        <source>Keys of the file</source>
        <translation>ファイルのキー</translation>
    </message>
    <message>
        <source>Used: %1</source>
        <translation>使用：%1</translation>
    </message>
    <message>
        <source>Without effect here: %1</source>
        <translation>ここでは効果なし：%1</translation>
    </message>
    <message>
        <source>Not supported: %1</source>
        <translation>非対応：%1</translation>
    </message>
</context>
<context>
    <name>ringmaster::LaunchDialog</name>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>起動</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>戻る</translation>
    </message>
    <message>
        <source>Overwrite</source>
        <translation>上書き</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>セットアップ</translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation>今すぐ停止</translation>
    </message>
    <message>
        <source>Show in Monitor</source>
        <translation>モニターに表示</translation>
    </message>
    <message>
        <source>calling it off</source>
        <translation>取り消し中</translation>
    </message>
    <message>
        <source>Add to the queue</source>
        <translation>キューに追加</translation>
    </message>
    <message>
        <source>Prepare the run now; it starts there when its turn comes</source>
        <translation>実行を今準備し、順番が来たらそこで開始します</translation>
    </message>
</context>
<context>
    <name>ringmaster::LaunchForm</name>
    <message>
        <source>not checked yet</source>
        <translation>未確認</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>このマシン</translation>
    </message>
    <message>
        <source>Machines over SSH</source>
        <translation>SSH のマシン</translation>
    </message>
    <message>
        <source>Prove the mesh first (preflight)</source>
        <translation>先にメッシュを検証（事前チェック）</translation>
    </message>
    <message>
        <source>Leave out nodes that stay away, without asking</source>
        <translation>応答しないノードを確認なしで除外</translation>
    </message>
    <message>
        <source>The ranks are processes of this machine; they go on when the window is closed.</source>
        <translation>ランクはこのマシンのプロセスです。ウィンドウを閉じても続行します。</translation>
    </message>
    <message>
        <source>Machines that the ranks are spread over</source>
        <translation>ランクを配置するマシン</translation>
    </message>
    <message>
        <source>Name and check machines…</source>
        <translation>マシンの指定と確認…</translation>
    </message>
    <message>
        <source>Before the first step, the run&apos;s first rows are computed as one rank would: loss and gradients have to agree, or it does not start.</source>
        <translation>最初のステップの前に、先頭の行を 1 ランクでも計算して比べます。損失と勾配が一致しなければ開始しません。</translation>
    </message>
    <message>
        <source>never</source>
        <translation>しない</translation>
    </message>
    <message>
        <source>Restarts after a failure</source>
        <translation>失敗後の再起動回数</translation>
    </message>
    <message>
        <source>A node that does not answer for 30 s is left out where the mesh can be smaller; node 0 has to be there. The rows of a step, and with them the losses, stay the same where they can.</source>
        <translation>30 秒間応答しないノードは、メッシュを小さくできる場合に除外します。ノード 0 は必須です。可能な限り、ステップの行と損失は変わりません。</translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation>実行の名前</translation>
    </message>
    <message>
        <source>No machine is named yet.</source>
        <translation>マシンがまだ指定されていません。</translation>
    </message>
    <message>
        <source>Choose the machines.</source>
        <translation>マシンを選んでください。</translation>
    </message>
    <message>
        <source>Slurm decides: it requeues a job that it warned before its time limit. After any other end, press Resume.</source>
        <translation>Slurm の規則に従います：警告を受けたジョブはキューに戻ります。ほかの終わり方をした場合は「再開」を押してください。</translation>
    </message>
    <message>
        <source>from the newest complete checkpoint, by this window: once it is closed the run goes on, but is not started again</source>
        <translation>失敗すると、このウィンドウが最新の完全なチェックポイントから実行を再起動します。閉じても実行は続きますが、再起動は行われません。</translation>
    </message>
    <message>
        <source>from the newest complete checkpoint, by the agent on that machine, with this window closed too</source>
        <translation>失敗すると、そのマシンのエージェントが最新の完全なチェックポイントから実行を再起動します。このウィンドウを閉じていても有効です。</translation>
    </message>
    <message>
        <source>from the newest complete checkpoint, by the agent, with this window closed too</source>
        <translation>失敗すると、エージェントが最新の完全なチェックポイントから実行を再起動します。このウィンドウを閉じていても有効です。</translation>
    </message>
    <message>
        <source>Submit</source>
        <translation>投入</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>起動</translation>
    </message>
    <message>
        <source>A job is submitted only as it is shown: press “%1” first.</source>
        <translation>ジョブは表示した内容でのみ投入されます。先に「%1」を押してください。</translation>
    </message>
    <message>
        <source>To add it to the queue, set the restarts to never: nothing restarts a queued run over several machines.</source>
        <translation>キューに追加するには、「失敗後の再起動回数」を「しない」にしてください。複数のマシンにまたがるキューの実行は自動で再起動されません。</translation>
    </message>
</context>
<context>
    <name>ringmaster::LengthChart</name>
    <message>
        <source>Lengths of the rows</source>
        <translation>行の長さ</translation>
    </message>
    <message>
        <source>%1 rows up to %2 tokens</source>
        <translation>%2 トークン以下が %1 行</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 トークン</translation>
    </message>
    <message>
        <source>%1 rows of %2 to %3 tokens</source>
        <translation>%2〜%3 トークンが %1 行</translation>
    </message>
</context>
<context>
    <name>ringmaster::LinesModel</name>
    <message>
        <source>What the plan made of it</source>
        <translation>プランでの値</translation>
    </message>
    <message>
        <source>As the configuration says</source>
        <translation>設定での値</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>キー</translation>
    </message>
</context>
<context>
    <name>ringmaster::LogModel</name>
    <message>
        <source>warning: </source>
        <translation>警告：</translation>
    </message>
    <message>
        <source>error: </source>
        <translation>エラー：</translation>
    </message>
    <message>
        <source>agent</source>
        <translation>エージェント</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>ランク %1</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>時刻</translation>
    </message>
    <message>
        <source>From</source>
        <translation>発生元</translation>
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
        <translation>表示するログ</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>ログを検索</translation>
    </message>
    <message>
        <source>Log of the run</source>
        <translation>実行のログ</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>ランク %1</translation>
    </message>
    <message>
        <source>All, by time</source>
        <translation>すべて（時刻順）</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>警告とエラー</translation>
    </message>
    <message>
        <source>Agent</source>
        <translation>エージェント</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>ランク %1</translation>
    </message>
    <message>
        <source>First error, rank %1 at %2: %3</source>
        <translation>最初のエラー、ランク %1、%2：%3</translation>
    </message>
</context>
<context>
    <name>ringmaster::MachineCard</name>
    <message>
        <source>Open the folder %1</source>
        <translation>フォルダ %1 を開く</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>このマシン</translation>
    </message>
    <message>
        <source>Looking at this machine…</source>
        <translation>このマシンを確認中…</translation>
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
        <translation>不足</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>セットアップ</translation>
    </message>
    <message>
        <source>Set up LibTorch</source>
        <translation>LibTorch をセットアップ</translation>
    </message>
    <message>
        <source>Measure its speed</source>
        <translation>速度を測定</translation>
    </message>
    <message>
        <source>Takes about 20 seconds. Plan then calculates times from what was measured. Stop other computations first.</source>
        <translation>約 20 秒かかります。その後、プランは測定値から時間を計算します。先にほかの計算を止めてください。</translation>
    </message>
</context>
<context>
    <name>ringmaster::MachineDialog</name>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>進行状況</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <extracomment>%1 is a file&apos;s name, %2 and %3 are sizes</extracomment>
        <translation>%1：%2 / %3</translation>
    </message>
    <message>
        <source>That did not work.</source>
        <translation>完了できませんでした。</translation>
    </message>
</context>
<context>
    <name>ringmaster::MainWindow</name>
    <message>
        <source>Start</source>
        <translation>ホーム</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>プラン</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>データ</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>ノード</translation>
    </message>
    <message>
        <source>Monitor</source>
        <translation>モニター</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>実行一覧</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>ヘルプ</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>メニュー</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>開く…</translation>
    </message>
    <message>
        <source>Attach to a run…</source>
        <translation>実行に接続…</translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation>実行に接続</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>言語</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外観</translation>
    </message>
    <message>
        <source>As the desktop</source>
        <translation>デスクトップに合わせる</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>ライト</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>ダーク</translation>
    </message>
    <message>
        <source>Commands…</source>
        <translation>コマンド…</translation>
    </message>
    <message>
        <source>About Ringmaster</source>
        <translation>Ringmaster について</translation>
    </message>
    <message>
        <source>Ringmaster %1

Plans, launches and watches the training of language models on sequences too long for one GPU.

GPL-3.0-or-later. Built on Qt %2, LibTorch, yaml‑cpp and libssh.</source>
        <translation>Ringmaster %1

1 基の GPU に収まらない長いシーケンスでの言語モデルの学習を計画し、起動し、監視します。

GPL-3.0-or-later。Qt %2、LibTorch、yaml‑cpp、libssh を使用しています。</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>終了</translation>
    </message>
    <message>
        <source>It is being started again already.</source>
        <translation>すでに再起動中です。</translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation>設定を開く</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>すべてのファイル (*)</translation>
    </message>
    <message>
        <source>looking at this machine…</source>
        <translation>このマシンを確認中…</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n コア</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation>
            <numerusform>GPU %n 基</numerusform>
        </translation>
    </message>
    <message>
        <source>A run is at work</source>
        <translation>進行中の実行があります</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) are still training.</source>
        <translation>
            <numerusform>%n 件の実行が進行中です。</numerusform>
        </translation>
    </message>
    <message>
        <source>Left running, the training goes on without the window. Open it again under Runs.</source>
        <translation>そのままにすると、ウィンドウを閉じても続行します。「実行一覧」から開き直せます。</translation>
    </message>
    <message>
        <source>Leave running</source>
        <translation>実行を続ける</translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation>保存して停止</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Not stopped</source>
        <translation>停止できませんでした</translation>
    </message>
    <message>
        <source>Restarts end with this window</source>
        <translation>再起動はこのウィンドウとともに終わります</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) over several nodes would not be started again after a failure.</source>
        <translation>
            <numerusform>複数ノードの %n 件の実行は、失敗しても再起動されなくなります。</numerusform>
        </translation>
    </message>
    <message>
        <source>They go on without the window. One that fails meanwhile waits for Resume.</source>
        <translation>ウィンドウがなくても実行は続きます。その間に失敗したものは「再開」を待ちます。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>キュー</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>試す</translation>
    </message>
    <message>
        <source>Alerts…</source>
        <translation>アラート…</translation>
    </message>
    <message>
        <source>Follow a run on another machine…</source>
        <translation>別のマシンの実行を追跡…</translation>
    </message>
</context>
<context>
    <name>ringmaster::MemoryCard</name>
    <message>
        <source>weights</source>
        <translation>重み</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>勾配</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>オプティマイザ</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>活性値</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>ワークスペース</translation>
    </message>
    <message>
        <source>logits</source>
        <translation>ロジット</translation>
    </message>
    <message>
        <source>communication</source>
        <translation>通信</translation>
    </message>
    <message>
        <source>runtime</source>
        <translation>ランタイム</translation>
    </message>
    <message>
        <source>Memory of the fullest rank</source>
        <translation>使用量最大のランクのメモリ</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>適用</translation>
    </message>
    <message>
        <source>Memory by component</source>
        <translation>構成要素別のメモリ</translation>
    </message>
    <message>
        <source>Legend of the memory</source>
        <translation>メモリの凡例</translation>
    </message>
    <message>
        <source>sequence_len to try</source>
        <translation>試す sequence_len</translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>上の問題を解決するまで不明です。</translation>
    </message>
    <message>
        <source>The model&apos;s shape is not known here, so memory and time are not.</source>
        <translation>モデルの形状がここでは不明なため、メモリと時間も不明です。</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>if sequence_len were %1</source>
        <translation>（sequence_len が %1 の場合）</translation>
    </message>
    <message>
        <source>low %1 · expected %2 · high %3</source>
        <translation>下限 %1 · 推定 %2 · 上限 %3</translation>
    </message>
    <message>
        <source>Longest that fits: %1 tokens</source>
        <translation>収まる最大長：%1 トークン</translation>
    </message>
    <message>
        <source>No length fits with this mesh and these options.</source>
        <translation>このメッシュとオプションでは、どの長さも収まりません。</translation>
    </message>
    <message>
        <source>Apply %1</source>
        <translation>%1 を適用</translation>
    </message>
    <message>
        <source>Writes into the text:</source>
        <translation>ファイルに書き込む内容：</translation>
    </message>
    <message>
        <source>Host memory of a node</source>
        <translation>ノードのホストメモリ</translation>
    </message>
    <message>
        <source>Disk of a node</source>
        <translation>ノードのディスク</translation>
    </message>
    <message>
        <source>offloaded</source>
        <translation>オフロード</translation>
    </message>
    <message>
        <source>processes</source>
        <translation>プロセス</translation>
    </message>
    <message>
        <source>Host memory of a node: %1</source>
        <translation>ノードのホストメモリ：%1</translation>
    </message>
    <message>
        <source>Disk of a node: %1</source>
        <translation>ノードのディスク：%1</translation>
    </message>
    <message>
        <source>Up to %1 tokens with %2</source>
        <extracomment>what allows the longest sequence; %1 is a number, %2 &quot;key: value&quot; or several of them</extracomment>
        <translation>%2 で最大 %1 トークン</translation>
    </message>
</context>
<context>
    <name>ringmaster::MeshView</name>
    <message>
        <source>Mesh</source>
        <translation>メッシュ</translation>
    </message>
    <message numerus="yes">
        <source>%n group(s) of ranks that share a sequence</source>
        <translation>
            <numerusform>シーケンスを分担するランクのグループ %n 個</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 ranks on %2 nodes: %3, %4 ranks each</source>
        <translation>%2 ノードに %1 ランク：%3、各 %4 ランク</translation>
    </message>
    <message>
        <source>node %1</source>
        <translation>ノード %1</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>ランク %1</translation>
    </message>
    <message>
        <source>ranks %1 to %2</source>
        <translation>ランク %1〜%2</translation>
    </message>
    <message>
        <source>%1 on node %2: dp_replicate %3, dp_shard %4, ring %5, ulysses %6</source>
        <translation>%1（ノード %2）：dp_replicate %3、dp_shard %4、リング %5、Ulysses %6</translation>
    </message>
</context>
<context>
    <name>ringmaster::MonitorPage</name>
    <message>
        <source>Monitor</source>
        <translation>モニター</translation>
    </message>
    <message>
        <source>reading…</source>
        <translation>読み取り中…</translation>
    </message>
    <message>
        <source>Reading the run.</source>
        <translation>実行を読み取っています。</translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation>保存しました：%1</translation>
    </message>
    <message>
        <source>This run cannot be shown</source>
        <translation>この実行は表示できません</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>disconnected</source>
        <translation>切断</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n ランク</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hosts</source>
        <translation>
            <numerusform>%n ホスト</numerusform>
        </translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>試行 %1</translation>
    </message>
    <message>
        <source>%1 read</source>
        <translation>%1 読み取り済み</translation>
    </message>
    <message>
        <source>Take out of the queue</source>
        <translation>キューから外す</translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation>今すぐ停止</translation>
    </message>
    <message>
        <source>step · %1 left</source>
        <extracomment>shown under the number of steps; %1 is a duration</extracomment>
        <translation>ステップ · 残り %1</translation>
    </message>
    <message>
        <source>step</source>
        <translation>ステップ</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <extracomment>memory: %1 is the measured size, %2 the capacity</extracomment>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>duration · ended %1</source>
        <extracomment>caption of a duration; %1 is a time</extracomment>
        <translation>所要時間 · %1 に終了</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>終了</translation>
    </message>
    <message>
        <source>last heard</source>
        <translation>最後の受信</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) of its events make no sense and are left out.</source>
        <translation>
            <numerusform>イベントのうち %n 行は解釈できないため除外しました。</numerusform>
        </translation>
    </message>
    <message>
        <source>Its plan cannot be read: no estimates.</source>
        <translation>プランを読み込めないため、推定値はありません。</translation>
    </message>
    <message>
        <source>Not started again: %1</source>
        <translation>再起動しません：%1</translation>
    </message>
    <message>
        <source>Show rank %1</source>
        <translation>ランク %1 を表示</translation>
    </message>
    <message>
        <source>Not everything is heard just now.</source>
        <translation>現在、一部の情報を受信できません。</translation>
    </message>
    <message>
        <source>The run does not need the connection; it is tried again by itself.</source>
        <translation>実行にこの接続は不要です。自動で再試行します。</translation>
    </message>
    <message>
        <source>Reconnect</source>
        <translation>再接続</translation>
    </message>
    <message>
        <source>Waiting in the queue.</source>
        <translation>キューで待機しています。</translation>
    </message>
    <message>
        <source>It failed, and is started again.</source>
        <translation>失敗したため、再起動しています。</translation>
    </message>
    <message>
        <source>Leave it</source>
        <translation>再起動しない</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>一時停止中</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>一時停止</translation>
    </message>
    <message>
        <source>off</source>
        <translation>オフ</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>エクスポート</translation>
    </message>
    <message>
        <source>Figures (*.csv)</source>
        <translation>数値 (*.csv)</translation>
    </message>
    <message>
        <source>Export into an empty folder</source>
        <translation>空のフォルダにエクスポート</translation>
    </message>
    <message>
        <source>Exported: %1</source>
        <translation>エクスポートしました：%1</translation>
    </message>
    <message>
        <source>There are no runs yet</source>
        <translation>実行はまだありません</translation>
    </message>
    <message>
        <source>No run is open</source>
        <translation>開いている実行がありません</translation>
    </message>
    <message>
        <source>Here a run shows its loss, its ranks and what holds them up, while it trains and afterwards.</source>
        <translation>学習中も学習後も、実行の損失、各ランクの状態、遅れの原因をここに表示します。</translation>
    </message>
    <message>
        <source>Choose a run</source>
        <translation>実行を選択</translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation>保存して停止</translation>
    </message>
    <message>
        <source>Finish the step, save a checkpoint, end</source>
        <translation>ステップを終え、チェックポイントを保存して終了します</translation>
    </message>
    <message>
        <source>End at once; what came after the last checkpoint is lost</source>
        <translation>直ちに終了します。最後のチェックポイント以降の処理は失われます。</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>再開</translation>
    </message>
    <message>
        <source>Go on from the newest complete checkpoint</source>
        <translation>最新の完全なチェックポイントから続行します</translation>
    </message>
    <message>
        <source>The trained model or a checkpoint, from the machine that it is on</source>
        <translation>学習済みモデルまたはチェックポイントを、保存先のマシンから取得します</translation>
    </message>
    <message>
        <source>All figures as CSV…</source>
        <translation>すべての数値を CSV で…</translation>
    </message>
    <message>
        <source>TensorBoard files…</source>
        <translation>TensorBoard ファイル…</translation>
    </message>
    <message>
        <source>Merged model…</source>
        <translation>統合したモデル…</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>進行状況</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>Hold the charts still; the run goes on (Space)</source>
        <translation>グラフの描画を止めます。実行は続きます (Space)</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>平滑化</translation>
    </message>
    <message>
        <source>Moving average over the steps; what was measured stays behind it</source>
        <translation>ステップの移動平均です。実測値は背後に残ります。</translation>
    </message>
    <message>
        <source>What the charts run along</source>
        <translation>グラフの横軸</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>ステップ</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>トークン</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>時間</translation>
    </message>
    <message>
        <source>Logarithmic</source>
        <translation>対数</translation>
    </message>
    <message>
        <source>Logarithmic figures; 0 and below are drawn at the foot</source>
        <translation>数値を対数で表示します。0 以下は下端に描きます。</translation>
    </message>
    <message>
        <source>Follow the end</source>
        <translation>末尾を追う</translation>
    </message>
    <message>
        <source>Show the last steps only, and go with them</source>
        <translation>最後のステップだけを表示し、更新に合わせて動かします</translation>
    </message>
    <message>
        <source>Show all steps</source>
        <translation>すべてのステップを表示</translation>
    </message>
    <message>
        <source>Undo the zoom (double click in a chart)</source>
        <translation>拡大を元に戻します（グラフをダブルクリック）</translation>
    </message>
    <message>
        <source>X axis</source>
        <translation>横軸</translation>
    </message>
    <message>
        <source>Nothing measured yet.</source>
        <translation>測定値はまだありません。</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>ランク</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>ログ</translation>
    </message>
    <message>
        <source>of all ranks by time, with the run&apos;s events</source>
        <translation>全ランクのログ（時刻順）と実行のイベント</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>試す</translation>
    </message>
    <message>
        <source>Let the trained model write, beside its base</source>
        <translation>学習済みモデルに、ベースモデルと並べて文章を書かせます</translation>
    </message>
    <message>
        <source>queued</source>
        <extracomment>a run that waits in the queue: how long ago it came there</extracomment>
        <translation>キューに追加</translation>
    </message>
    <message>
        <source>Nothing was measured.</source>
        <translation>測定値はありません。</translation>
    </message>
    <message>
        <source>tokens per second at the end</source>
        <translation>トークン/秒（終了時）</translation>
    </message>
    <message>
        <source>tokens per second now</source>
        <translation>トークン/秒（現在）</translation>
    </message>
    <message>
        <source>exposed communication at the end</source>
        <translation>隠蔽されない通信（終了時）</translation>
    </message>
    <message>
        <source>Mean of the last %1 steps</source>
        <translation>直近 %1 ステップの平均</translation>
    </message>
    <message>
        <source>Attach to a run…</source>
        <translation>実行に接続…</translation>
    </message>
    <message>
        <source>The queue stands still.</source>
        <translation>キューが止まっています。</translation>
    </message>
    <message>
        <source>The process that starts its runs is not running.</source>
        <translation>キュー内の実行を開始するプロセスが動いていません。</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>開始</translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation>実行に接続</translation>
    </message>
    <message>
        <source>Fetch…</source>
        <translation>取得…</translation>
    </message>
    <message>
        <source>tokens per second at the last step</source>
        <translation>トークン/秒（最後のステップ）</translation>
    </message>
    <message>
        <source>exposed communication, mean now</source>
        <translation>隠蔽されない通信（現在の平均）</translation>
    </message>
    <message>
        <source>exposed communication at the last step</source>
        <translation>隠蔽されない通信（最後のステップ）</translation>
    </message>
    <message>
        <source>tensors of the fullest rank · expected %1</source>
        <translation>使用量最大のランクのテンソル · 推定 %1</translation>
    </message>
    <message>
        <source>tensors of the fullest rank</source>
        <translation>使用量最大のランクのテンソル</translation>
    </message>
    <message>
        <source>Mean of the ranks over the last %1 steps</source>
        <translation>直近 %1 ステップの全ランクの平均</translation>
    </message>
    <message>
        <source>click a column to sort, a row to highlight it in the charts</source>
        <translation>列をクリックで並べ替え、行をクリックでグラフに強調表示</translation>
    </message>
</context>
<context>
    <name>ringmaster::NodeDetails</name>
    <message>
        <source>Check again</source>
        <translation>再確認</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Install LibTorch</source>
        <translation>LibTorch をインストール</translation>
    </message>
    <message>
        <source>Send LibTorch</source>
        <translation>LibTorch を送信</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Copy next step</source>
        <translation>次の手順をコピー</translation>
    </message>
    <message>
        <source>Forget this target; nothing on the machine changes</source>
        <translation>このターゲットを一覧から外します。マシンには何も変更を加えません。</translation>
    </message>
    <message>
        <source>That machine downloads 2.8 GB from PyPI into a folder of ours there</source>
        <translation>そのマシンが PyPI から 2.8 GB を Ringmaster 用のフォルダにダウンロードします</translation>
    </message>
    <message>
        <source>What the engine needs of this machine&apos;s LibTorch goes into a folder of ours there</source>
        <translation>このマシンの LibTorch のうちエンジンに必要な部分を、そのマシンの Ringmaster 用のフォルダに送ります</translation>
    </message>
    <message>
        <source>checked %1</source>
        <translation>確認 %1</translation>
    </message>
    <message>
        <source>Key, login, system, GPUs and who uses them, memory, disk, clock and LibTorch are looked at in seconds; nothing is installed.</source>
        <translation>鍵、ログイン、システム、GPU とその使用者、メモリ、ディスク、時計、LibTorch を数秒で確認します。何もインストールしません。</translation>
    </message>
    <message>
        <source>%1:</source>
        <extracomment>a state, followed by what was found: &quot;Ready: 32 cores, …&quot;</extracomment>
        <translation>%1：</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>確認</translation>
    </message>
</context>
<context>
    <name>ringmaster::NodesModel</name>
    <message>
        <source>Target</source>
        <translation>ターゲット</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状態</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>デバイス</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <source>Checked</source>
        <extracomment>column: time since the check</extracomment>
        <translation>確認</translation>
    </message>
    <message>
        <source>What was found</source>
        <translation>検出内容</translation>
    </message>
</context>
<context>
    <name>ringmaster::NodesPage</name>
    <message>
        <source>Check all</source>
        <translation>すべて確認</translation>
    </message>
    <message>
        <source>Try out</source>
        <translation>動作テスト</translation>
    </message>
    <message>
        <source>Cancel checks</source>
        <translation>確認をキャンセル</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>ノード</translation>
    </message>
    <message>
        <source>Check every target (%1)</source>
        <translation>すべてのターゲットを確認 (%1)</translation>
    </message>
    <message>
        <source>Bring the engine to the machines over SSH that can train, run its self-test there and measure the links between them; the first is taken for the node of rank 0</source>
        <translation>学習できる SSH のマシンにエンジンを送り、自己テストを実行し、マシン間のリンクを測定します。先頭のマシンをランク 0 のノードとみなします。</translation>
    </message>
    <message>
        <source>Progress of the checks</source>
        <translation>確認の進行状況</translation>
    </message>
    <message>
        <source>Targets</source>
        <translation>ターゲット</translation>
    </message>
    <message numerus="yes">
        <source>%n target(s)</source>
        <translation>
            <numerusform>ターゲット %n 件</numerusform>
        </translation>
    </message>
    <message>
        <source>checked %1 of %2</source>
        <extracomment>progress of checks, such as &quot;checked 5 of 32&quot;</extracomment>
        <translation>%2 件中 %1 件を確認済み</translation>
    </message>
    <message>
        <source>No machine over SSH is ready: add one, and check it.</source>
        <translation>SSH で使えるマシンがまだありません。追加して確認してください。</translation>
    </message>
</context>
<context>
    <name>ringmaster::NotesEditor</name>
    <message>
        <source>Tags, with commas between them</source>
        <translation>タグ（コンマ区切り）</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>タグ</translation>
    </message>
    <message>
        <source>Notes about this run</source>
        <translation>この実行のメモ</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>メモ</translation>
    </message>
    <message>
        <source>Not saved yet</source>
        <translation>未保存</translation>
    </message>
    <message>
        <source>Saved in notes.json</source>
        <translation>notes.json に保存済み</translation>
    </message>
</context>
<context>
    <name>ringmaster::ParallelPlot</name>
    <message>
        <source>Loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>Results of the sweep</source>
        <translation>スイープの結果</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) shown</source>
        <translation>
            <numerusform>%n 件の実行を表示</numerusform>
        </translation>
    </message>
    <message>
        <source>Lowest loss: %1.</source>
        <translation>最も低い損失：%1。</translation>
    </message>
    <message>
        <source>Limited by %1.</source>
        <translation>%1 で絞り込み中。</translation>
    </message>
    <message>
        <source>chosen run</source>
        <translation>選択中の実行</translation>
    </message>
    <message>
        <source>not finished</source>
        <translation>未完了</translation>
    </message>
</context>
<context>
    <name>ringmaster::PlanBoard</name>
    <message>
        <source>Mesh</source>
        <translation>メッシュ</translation>
    </message>
    <message>
        <source>Who holds which tokens</source>
        <translation>トークンの分担</translation>
    </message>
    <message>
        <source>A step</source>
        <translation>1 ステップ</translation>
    </message>
    <message>
        <source>Time of a step</source>
        <translation>ステップ時間</translation>
    </message>
    <message>
        <source>Legend of the time</source>
        <translation>時間の凡例</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>プランを作成中…</translation>
    </message>
    <message>
        <source>The product of the sizes is not the number of ranks.</source>
        <translation>サイズの積がランク数と一致しません。</translation>
    </message>
    <message numerus="yes">
        <source>%n node(s) × %1</source>
        <translation>
            <numerusform>%n ノード × %1</numerusform>
        </translation>
    </message>
    <message>
        <source>rings cross nodes</source>
        <translation>リングがノードをまたぐ</translation>
    </message>
    <message>
        <source>the busiest rank works %1 × the mean</source>
        <translation>最も忙しいランクの計算量は平均の %1 倍</translation>
    </message>
    <message>
        <source>equal work</source>
        <translation>計算量は全ランクで均等</translation>
    </message>
    <message>
        <source>The time of a step is not known.</source>
        <translation>ステップ時間はまだ不明です。</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>計算</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>隠蔽されない通信</translation>
    </message>
    <message>
        <source>waiting for offloaded data</source>
        <translation>オフロードしたデータの待ち</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 トークン/秒</translation>
    </message>
    <message>
        <source>From measured speeds.</source>
        <translation>実測の速度に基づきます。</translation>
    </message>
    <message>
        <source>From assumed speeds, until they are measured.</source>
        <translation>仮定の速度に基づきます（実測まで）。</translation>
    </message>
    <message>
        <source>Computation hides another %1 of communication.</source>
        <translation>ほかに %1の通信が計算で隠蔽されます。</translation>
    </message>
    <message>
        <source>Computation hides another %1 of copying offloaded data.</source>
        <translation>ほかに %1のオフロードデータのコピーが計算で隠蔽されます。</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n ランク</numerusform>
        </translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>上の問題を解決するまで不明です。</translation>
    </message>
</context>
<context>
    <name>ringmaster::PlanPage</name>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Save as…</source>
        <translation>名前を付けて保存…</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行を表示</translation>
    </message>
    <message>
        <source>Make it run…</source>
        <translation>ここで動くように変更…</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>起動</translation>
    </message>
    <message>
        <source>No configuration is open</source>
        <translation>開いている設定がありません</translation>
    </message>
    <message>
        <source>Open an axolotl YAML or drop it here. You see what it means on your GPUs before anything runs.</source>
        <translation>axolotl の YAML を開くか、ここにドロップしてください。何も実行する前に、手元の GPU でどうなるかを確認できます。</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>開く…</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>サンプルを試す</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>設定</translation>
    </message>
    <message>
        <source>Save under another name</source>
        <translation>別の名前で保存</translation>
    </message>
    <message>
        <source>Show the rows as the model sees them, before anything is trained</source>
        <translation>学習の前に、モデルが読むとおりに行を表示します</translation>
    </message>
    <message>
        <source>Show what would have to change in the file</source>
        <translation>ファイルに必要な変更を表示します</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Save the configuration</source>
        <translation>設定を保存</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>すべてのファイル (*)</translation>
    </message>
    <message>
        <source>Edits are not saved</source>
        <translation>編集内容は保存されていません</translation>
    </message>
    <message>
        <source>Save the changes to %1?</source>
        <translation>%1 の編集内容を保存しますか？</translation>
    </message>
    <message>
        <source>the unsaved copy</source>
        <translation>未保存のコピー</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>破棄</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>The edits are saved before the launch.</source>
        <translation>起動の前に編集内容を保存します。</translation>
    </message>
    <message>
        <source>Save and launch</source>
        <translation>保存して起動</translation>
    </message>
    <message>
        <source>The file has changed on the disk.</source>
        <translation>ディスク上のファイルが変更されています。</translation>
    </message>
    <message>
        <source>Reloading replaces your edits; undo brings them back.</source>
        <translation>再読み込みすると編集内容が置き換わります。元に戻せます。</translation>
    </message>
    <message>
        <source>Reload</source>
        <translation>再読み込み</translation>
    </message>
    <message>
        <source>Unsaved edits could not be kept: %1</source>
        <translation>未保存の編集内容を保持できませんでした：%1</translation>
    </message>
    <message>
        <source>an unsaved copy</source>
        <translation>未保存のコピー</translation>
    </message>
    <message>
        <source>Edits were not saved.</source>
        <translation>編集内容が保存されていませんでした。</translation>
    </message>
    <message>
        <source>The app ended while %1 was edited (%2).</source>
        <translation>%1 の編集中にアプリが終了しました（%2）。</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>復元</translation>
    </message>
    <message>
        <source>Unsaved copy</source>
        <translation>未保存のコピー</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>プラン</translation>
    </message>
    <message>
        <source>edited</source>
        <translation>編集済み</translation>
    </message>
    <message>
        <source>Not planned yet</source>
        <translation>プラン未作成</translation>
    </message>
    <message>
        <source>Launch on %1</source>
        <extracomment>%1 such as &quot;8 GPUs&quot;; &quot;elsewhere&quot;: on other machines, because this one lacks them</extracomment>
        <translation>%1で起動</translation>
    </message>
    <message>
        <source>Prepare and start the training</source>
        <translation>準備して学習を開始します</translation>
    </message>
    <message>
        <source>An accelerate file alone can be planned, not launched.</source>
        <translation>accelerate ファイルだけではプランの作成のみで、起動はできません。</translation>
    </message>
    <message>
        <source>Launch on %1 elsewhere…</source>
        <translation>別のマシンの %1で起動…</translation>
    </message>
</context>
<context>
    <name>ringmaster::Plot</name>
    <message>
        <source>0 and below lie at the foot</source>
        <translation>0 以下は下端</translation>
    </message>
</context>
<context>
    <name>ringmaster::PreviewPanel</name>
    <message>
        <source>Exactly what is started</source>
        <translation>起動する内容</translation>
    </message>
    <message>
        <source>This cannot be launched.</source>
        <translation>このままでは起動できません。</translation>
    </message>
    <message>
        <source>Show again</source>
        <translation>再表示</translation>
    </message>
    <message>
        <source>Connect and show</source>
        <translation>接続して表示</translation>
    </message>
    <message>
        <source>The machines are asked before it can be shown.</source>
        <translation>表示するには、マシンへの接続が必要です。</translation>
    </message>
    <message>
        <source>connecting…</source>
        <translation>接続中…</translation>
    </message>
    <message>
        <source>planning…</source>
        <translation>プランを作成中…</translation>
    </message>
    <message>
        <source>Nothing can be started yet.</source>
        <translation>まだ何も起動できません。</translation>
    </message>
</context>
<context>
    <name>ringmaster::ProblemList</name>
    <message>
        <source>Apply</source>
        <translation>適用</translation>
    </message>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>エラー %n 件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n warning(s)</source>
        <translation>
            <numerusform>警告 %n 件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n note(s)</source>
        <translation>
            <numerusform>情報 %n 件</numerusform>
        </translation>
    </message>
    <message>
        <source>No problems</source>
        <translation>問題なし</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>エラー</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>情報</translation>
    </message>
    <message>
        <source>Rename to %1</source>
        <translation>%1 に改名</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 を削除</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>問題</translation>
    </message>
    <message>
        <source>What this code means, with an example</source>
        <translation>このコードの意味と例</translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation>%1 行目：%2</translation>
    </message>
    <message>
        <source>Explain %1</source>
        <translation>%1 の説明</translation>
    </message>
    <message>
        <source>Changes the text; undo takes it back</source>
        <translation>ファイルを変更します。元に戻せます。</translation>
    </message>
</context>
<context>
    <name>ringmaster::PromptDialog</name>
    <message>
        <source>Log in to %1</source>
        <extracomment>%1 is a machine</extracomment>
        <translation>%1 にログイン</translation>
    </message>
    <message>
        <source>Asked again.</source>
        <translation>もう一度入力してください。</translation>
    </message>
    <message>
        <source>The last answer was not accepted.</source>
        <translation>前回の入力は受け付けられませんでした。</translation>
    </message>
    <message>
        <source>The answer goes only to that machine. It is not stored.</source>
        <translation>入力内容はそのマシンにだけ送られ、保存されません。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>送信</translation>
    </message>
    <message>
        <source>Your password on %1</source>
        <translation>%1 でのパスワード</translation>
    </message>
    <message>
        <source>Password of %1 on %2</source>
        <translation>%2 での %1 のパスワード</translation>
    </message>
    <message>
        <source>Passphrase of the key %1, which stays on this machine</source>
        <translation>鍵 %1 のパスフレーズ（このマシンの外には出ません）</translation>
    </message>
    <message>
        <source>%1 asks, in its own words:</source>
        <translation>%1 からの質問（原文）：</translation>
    </message>
    <message>
        <source>Answer to %1</source>
        <translation>%1 への回答</translation>
    </message>
</context>
<context>
    <name>ringmaster::PublishDialog</name>
    <message>
        <source>Private</source>
        <translation>非公開（自分だけ）</translation>
    </message>
    <message>
        <source>Upload to the Hugging Face hub</source>
        <translation>Hugging Face Hub にアップロード</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>リポジトリ</translation>
    </message>
    <message>
        <source>owner/%1</source>
        <translation>所有者/%1</translation>
    </message>
    <message>
        <source>A repository that is made is private</source>
        <translation>新しく作るリポジトリは非公開になります</translation>
    </message>
    <message>
        <source>The hub&apos;s own client uploads the model&apos;s folder, with your login. A card goes with it: figures, loss, data, proof and configuration, without secrets. An existing README.md is kept.</source>
        <translation>Hugging Face Hub の公式クライアントが、自分のアカウントでモデルのフォルダをアップロードします。数値、損失、データ、検証結果、設定をまとめたモデルカードが付きます（秘密の値は除きます）。すでにある README.md はそのまま残ります。</translation>
    </message>
    <message>
        <source>The hub&apos;s own client uploads the folder, with your login.</source>
        <translation>Hugging Face Hub の公式クライアントが、自分のアカウントでフォルダをアップロードします。</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>アップロード</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Name a repository to upload to: owner/name.</source>
        <translation>アップロード先のリポジトリを「所有者/名前」の形で入力してください。</translation>
    </message>
</context>
<context>
    <name>ringmaster::QueueDialog</name>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Add to the queue</source>
        <translation>キューに追加</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>設定</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名前</translation>
    </message>
    <message>
        <source>the file&apos;s name and the date</source>
        <translation>ファイル名と日付</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>スイープ</translation>
    </message>
    <message>
        <source>The configuration and its rows are kept as they are now. With a key and its values on each line of the sweep, one run is queued for each combination.</source>
        <translation>設定とデータは追加した時点の内容で保存されます。スイープ欄に 1 行ずつキーと値を書くと、組み合わせごとに実行がキューに入ります。</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>選択…</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>進行状況</translation>
    </message>
    <message>
        <source>Choose a configuration</source>
        <translation>設定を選択</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>Planning the runs</source>
        <translation>実行を計画しています</translation>
    </message>
    <message>
        <source>It was not queued.</source>
        <translation>キューに追加できませんでした。</translation>
    </message>
    <message>
        <source>The line “%1” of the sweep cannot be used.</source>
        <translation>スイープの行「%1」は使えません。</translation>
    </message>
    <message>
        <source>Write a key and its values, such as %1.</source>
        <translation>キーと値を書いてください。例：%1</translation>
    </message>
    <message>
        <source>Choose a configuration to add it.</source>
        <translation>追加する設定を選んでください。</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>実行 %n 件</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::QueuePage</name>
    <message>
        <source>Add…</source>
        <translation>追加…</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>上へ</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>下へ</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Open in Monitor</source>
        <translation>モニターで開く</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>キュー</translation>
    </message>
    <message>
        <source>Queue a configuration, or a sweep of it</source>
        <translation>設定、またはそのスイープをキューに入れます</translation>
    </message>
    <message>
        <source>Nothing is queued</source>
        <translation>キューは空です</translation>
    </message>
    <message>
        <source>Runs wait here for their turn and start by themselves, one after the other, even when this window is closed.</source>
        <translation>実行はここで順番を待ち、このウィンドウを閉じていても、1 つずつ自動的に始まります。</translation>
    </message>
    <message>
        <source>Add a configuration…</source>
        <translation>設定を追加…</translation>
    </message>
    <message>
        <source>Move the run to an earlier place (Alt and the up arrow, or drag it)</source>
        <translation>実行を前に移動します（Alt と上矢印、またはドラッグ）</translation>
    </message>
    <message>
        <source>Move the run to a later place (Alt and the down arrow, or drag it)</source>
        <translation>実行を後ろに移動します（Alt と下矢印、またはドラッグ）</translation>
    </message>
    <message>
        <source>Take the run off the queue; its directory stays (Delete)</source>
        <translation>実行をキューから外します。ディレクトリは残ります（Delete）</translation>
    </message>
    <message>
        <source>Runs at a time</source>
        <translation>同時に実行する数</translation>
    </message>
    <message>
        <source>How many runs may train at the same time; a run on GPUs always has the machine to itself</source>
        <translation>同時に学習できる実行の数です。GPU を使う実行は常にマシンを占有します。</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>順番</translation>
    </message>
    <message>
        <source>drag a row to another place; a sweep&apos;s keys have columns of their own</source>
        <translation>行はドラッグで移動できます。スイープのキーは列として表示されます。</translation>
    </message>
    <message>
        <source>The queue cannot be read.</source>
        <translation>キューを読み取れません。</translation>
    </message>
    <message>
        <source>Results of the sweep</source>
        <translation>スイープの結果</translation>
    </message>
    <message>
        <source>a line for each run; drag along an axis to keep only some</source>
        <translation>実行ごとに 1 本の線。軸に沿ってドラッグすると絞り込めます。</translation>
    </message>
    <message>
        <source>The queue stands still.</source>
        <translation>キューが止まっています。</translation>
    </message>
    <message>
        <source>The process that starts its runs is not running.</source>
        <translation>キュー内の実行を開始するプロセスが動いていません。</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>開始</translation>
    </message>
    <message>
        <source>the next one is being started</source>
        <translation>次の実行を開始しています</translation>
    </message>
    <message>
        <source>%1 running</source>
        <translation>%1 件実行中</translation>
    </message>
    <message>
        <source>%1 waiting</source>
        <translation>%1 件待機中</translation>
    </message>
</context>
<context>
    <name>ringmaster::QueueTable</name>
    <message>
        <source>Runs of the queue, in their order</source>
        <translation>キューの実行（順番どおり）</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名前</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状態</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>ステップ</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>here</source>
        <extracomment>where a run of the queue trains: on this machine</extracomment>
        <translation>このマシン</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>場所</translation>
    </message>
</context>
<context>
    <name>ringmaster::RankTableModel</name>
    <message>
        <source>replica %1</source>
        <extracomment>position of a rank among the groups that each hold a copy of the weights</extracomment>
        <translation>レプリカ %1</translation>
    </message>
    <message>
        <source>shard %1</source>
        <extracomment>position of a rank among those that each hold a part of the weights</extracomment>
        <translation>シャード %1</translation>
    </message>
    <message>
        <source>ring %1</source>
        <extracomment>position of a rank in the ring that passes keys and values round</extracomment>
        <translation>リング内 %1</translation>
    </message>
    <message>
        <source>ulysses %1</source>
        <extracomment>position of a rank among those that split the heads; Ulysses is a name</extracomment>
        <translation>Ulysses %1</translation>
    </message>
    <message>
        <source>%1 at the peak; the plan expects %2</source>
        <translation>ピーク %1、プランの推定は %2</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>ランク</translation>
    </message>
    <message>
        <source>Host</source>
        <translation>ホスト</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>デバイス</translation>
    </message>
    <message>
        <source>Mesh</source>
        <extracomment>column: a rank&apos;s coordinates in the mesh</extracomment>
        <translation>メッシュ</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>ステップ</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>Step time</source>
        <extracomment>column: seconds per step</extracomment>
        <translation>ステップ時間</translation>
    </message>
    <message>
        <source>Wait</source>
        <extracomment>column: time per step in which the rank waits for others</extracomment>
        <translation>待機</translation>
    </message>
    <message>
        <source>Comm.</source>
        <extracomment>column: communication time per step</extracomment>
        <translation>通信</translation>
    </message>
    <message>
        <source>Exposed</source>
        <extracomment>column: communication that computation does not hide, as a share of the step</extracomment>
        <translation>非隠蔽</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <source>Heard</source>
        <extracomment>column: time since the rank last wrote something</extracomment>
        <translation>受信</translation>
    </message>
    <message>
        <source>Number of the rank</source>
        <translation>ランクの番号</translation>
    </message>
    <message>
        <source>Host it runs on</source>
        <translation>実行しているホスト</translation>
    </message>
    <message>
        <source>Device it trains on</source>
        <translation>学習に使うデバイス</translation>
    </message>
    <message>
        <source>Its place in the mesh</source>
        <translation>メッシュでの位置</translation>
    </message>
    <message>
        <source>Last step that it finished</source>
        <translation>最後に完了したステップ</translation>
    </message>
    <message>
        <source>Mean loss over its own labels</source>
        <translation>自身のラベルの平均損失</translation>
    </message>
    <message>
        <source>Time of a step, median of the last 10</source>
        <translation>ステップ時間、最近 10 ステップの中央値</translation>
    </message>
    <message>
        <source>Exposed communication of a step: it waits for others, or for the network</source>
        <translation>1 ステップの隠蔽されない通信：ほかのランクまたはネットワークを待つ時間</translation>
    </message>
    <message>
        <source>Time in which its collectives were in flight</source>
        <translation>集団通信が進行していた時間</translation>
    </message>
    <message>
        <source>Exposed communication as a share of the step</source>
        <translation>隠蔽されない通信がステップに占める割合</translation>
    </message>
    <message>
        <source>Tensors at the highest peak of its steps</source>
        <translation>全ステップのうち最大のテンソルのピーク</translation>
    </message>
    <message>
        <source>When something was last heard of it</source>
        <translation>最後に受信してからの時間</translation>
    </message>
    <message>
        <source>data parallel %1</source>
        <extracomment>position of a rank among those that each hold all weights</extracomment>
        <translation>データ並列 %1</translation>
    </message>
</context>
<context>
    <name>ringmaster::RecentRunsModel</name>
    <message>
        <source>waiting for %1</source>
        <extracomment>a run waits in the queue; %1 is a duration</extracomment>
        <translation>%1前から待機中</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>ステップ %1 / %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>ステップ %1</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>損失 %1</translation>
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
        <translation>行</translation>
    </message>
    <message>
        <source>Row %1 of %2</source>
        <translation>行 %1 / %2</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>テキスト</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>トークン</translation>
    </message>
    <message>
        <source>Row</source>
        <translation>行</translation>
    </message>
</context>
<context>
    <name>ringmaster::RowText</name>
    <message>
        <source>Chosen</source>
        <extracomment>the better one of two answers to a question, which is trained to become more likely</extracomment>
        <translation>選ばれた応答</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>退けられた応答</translation>
    </message>
    <message>
        <source>Text of the chosen row</source>
        <translation>選択した行のテキスト</translation>
    </message>
    <message>
        <source>… and %1 more tokens</source>
        <translation>… ほか %1 トークン</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunActions</name>
    <message numerus="yes">
        <source>%1 with %n checkpoint(s)</source>
        <extracomment>%1 is a size such as 12 GiB</extracomment>
        <translation>
            <numerusform>%1（チェックポイント %n 個）</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is not there any more.</source>
        <translation>%1 はもうありません。</translation>
    </message>
    <message>
        <source>No program here opens folders: %1</source>
        <translation>フォルダを開くプログラムがありません：%1</translation>
    </message>
    <message>
        <source>Save diagnostics</source>
        <translation>診断情報を保存</translation>
    </message>
    <message>
        <source>Archive (*.tar.gz)</source>
        <translation>アーカイブ (*.tar.gz)</translation>
    </message>
    <message>
        <source>Export as CSV</source>
        <translation>CSV でエクスポート</translation>
    </message>
    <message>
        <source>Table (*.csv)</source>
        <translation>表 (*.csv)</translation>
    </message>
    <message>
        <source>Export for TensorBoard, into a new folder</source>
        <translation>TensorBoard 用に新しいフォルダへエクスポート</translation>
    </message>
    <message>
        <source>Saved %1. Look through it before you pass it on.</source>
        <translation>%1 を保存しました。人に渡す前に内容を確認してください。</translation>
    </message>
    <message>
        <source>Saved %1: %2 rows.</source>
        <translation>%1 を保存しました：%2 行。</translation>
    </message>
    <message>
        <source>Saved %1: %2 values.</source>
        <translation>%1 を保存しました：値 %2 個。</translation>
    </message>
    <message>
        <source>Delete runs</source>
        <translation>実行を削除</translation>
    </message>
    <message numerus="yes">
        <source>Delete %n run(s)?</source>
        <translation>
            <numerusform>%n 件の実行を削除しますか？</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>残す</translation>
    </message>
    <message>
        <source>Deleted %1.</source>
        <translation>%1 を削除しました。</translation>
    </message>
    <message numerus="yes">
        <source>Deleted %n run(s).</source>
        <translation>
            <numerusform>%n 件の実行を削除しました。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Lost for good: %1, the curves, logs and notes. The trained model(s) in the output folder(s) stay.</source>
        <translation>
            <numerusform>完全に失われるもの：曲線、ログ、メモ（%1）。出力フォルダの学習済みモデルは残ります。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::RunKeeper</name>
    <message>
        <source>it was called off</source>
        <translation>取り消されました</translation>
    </message>
    <message>
        <source>restart %1 of %2</source>
        <extracomment>a run that failed is restarted; %1 and %2 are numbers</extracomment>
        <translation>再起動 %1 / %2</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsModel</name>
    <message>
        <source>Run</source>
        <translation>実行</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状態</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>ステップ</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>Best loss</source>
        <translation>最小の損失</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>トークン/秒</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>ピークメモリ</translation>
    </message>
    <message>
        <source>Estimated</source>
        <translation>推定</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Mesh</source>
        <translation>メッシュ</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>長さ</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>バッチ</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>所要時間</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>開始日時</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>タグ</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>理由</translation>
    </message>
    <message>
        <source>Completed optimizer steps, and how many there will be</source>
        <translation>完了したオプティマイザステップ数と全ステップ数</translation>
    </message>
    <message>
        <source>Loss of the last step, over the whole global batch</source>
        <translation>最後のステップの損失（グローバルバッチ全体）</translation>
    </message>
    <message>
        <source>Lowest loss of a step; in a long run the lowest of those looked at</source>
        <translation>ステップの損失の最小値。長い実行では、調べたステップの中の最小値。</translation>
    </message>
    <message>
        <source>Tokens per second over the steps looked at, saving and evaluation not counted</source>
        <translation>調べたステップのトークン/秒。保存と評価は含みません。</translation>
    </message>
    <message>
        <source>Highest memory among the steps looked at, on the fullest rank</source>
        <translation>調べたステップの中で最大のメモリ（使用量最大のランク）</translation>
    </message>
    <message>
        <source>Tensors of the fullest rank as the plan expected them, without what the runtime takes</source>
        <translation>使用量最大のランクのテンソルのプランでの推定値。ランタイムの分は含みません。</translation>
    </message>
    <message>
        <source>How the ranks are arranged</source>
        <translation>ランクの配置</translation>
    </message>
    <message>
        <source>Tokens of one sequence</source>
        <translation>1 シーケンスのトークン数</translation>
    </message>
    <message>
        <source>Rows of one optimizer step, over all ranks</source>
        <translation>1 オプティマイザステップの行数（全ランク）</translation>
    </message>
    <message>
        <source>How long its attempts ran, all together</source>
        <translation>すべての試行の実行時間の合計</translation>
    </message>
    <message>
        <source>The run is long: the lowest of the steps looked at</source>
        <translation>長い実行のため、調べたステップの中の最小値</translation>
    </message>
    <message>
        <source>Exposed</source>
        <translation>非隠蔽</translation>
    </message>
    <message>
        <source>Exposed communication: the share of a step that computation did not hide. Mean of the ranks; in a long run, over their last steps</source>
        <translation>隠蔽されない通信：計算で隠れなかった通信がステップに占める割合。全ランクの平均で、長い実行では直近のステップの値</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsPage</name>
    <message>
        <source>Compare</source>
        <translation>比較</translation>
    </message>
    <message>
        <source>No runs yet</source>
        <translation>実行はまだありません</translation>
    </message>
    <message>
        <source>What you launch appears here with what mattered: loss, tokens per second, memory and why it ended.</source>
        <translation>起動したものがここに並びます。損失、トークン/秒、メモリ、終了の理由を確認できます。</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>サンプルを試す</translation>
    </message>
    <message>
        <source>Open a configuration…</source>
        <translation>設定を開く…</translation>
    </message>
    <message>
        <source>No run matches</source>
        <translation>一致する実行がありません</translation>
    </message>
    <message>
        <source>Looked for in names, models, states, tags, notes and reasons.</source>
        <translation>名前、モデル、状態、タグ、メモ、理由を検索しました。</translation>
    </message>
    <message>
        <source>Show all runs</source>
        <translation>すべての実行を表示</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>実行一覧</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>検索</translation>
    </message>
    <message>
        <source>Search the runs</source>
        <translation>実行を検索</translation>
    </message>
    <message>
        <source>Search the runs (%1)</source>
        <translation>実行を検索 (%1)</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>列</translation>
    </message>
    <message>
        <source>Choose columns</source>
        <translation>列を選択</translation>
    </message>
    <message>
        <source>From another machine…</source>
        <translation>別のマシンから…</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>実行 %n 件</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2 found</source>
        <translation>%2 件中 %1 件が一致</translation>
    </message>
    <message numerus="yes">
        <source>Compare %n run(s)</source>
        <translation>
            <numerusform>%n 件の実行を比較</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose two to eight runs: Ctrl or Shift and a click, or Shift and an arrow key</source>
        <translation>2〜8 件の実行を選択：Ctrl または Shift を押しながらクリック、あるいは Shift と矢印キー</translation>
    </message>
    <message>
        <source>That did not work.</source>
        <translation>完了できませんでした。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Follow a run on another machine…</source>
        <translation>別のマシンの実行を追跡…</translation>
    </message>
    <message>
        <source>%1 running</source>
        <translation>%1 件実行中</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsTable</name>
    <message>
        <source>Runs</source>
        <translation>実行一覧</translation>
    </message>
</context>
<context>
    <name>ringmaster::SamplesCard</name>
    <message>
        <source>no sample</source>
        <translation>サンプルなし</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>サンプル</translation>
    </message>
    <message>
        <source>Step of the samples on the left</source>
        <translation>左側のサンプルのステップ</translation>
    </message>
    <message>
        <source>Step of the samples on the right</source>
        <translation>右側のサンプルのステップ</translation>
    </message>
    <message>
        <source>Show the samples of another step</source>
        <translation>別のステップのサンプルを表示します</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>ステップ %1</translation>
    </message>
    <message>
        <source>after step %1</source>
        <translation>ステップ %1 の後</translation>
    </message>
    <message>
        <source>Write now</source>
        <translation>今すぐ生成</translation>
    </message>
    <message>
        <source>what the model writes while it trains</source>
        <translation>学習中のモデルの出力</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>プロンプト</translation>
    </message>
    <message>
        <source>A prompt that the model continues after its present step</source>
        <translation>プロンプトを入力（現在のステップの後に続きを生成）</translation>
    </message>
    <message>
        <source>Asked. The run answers after its present step.</source>
        <translation>質問しました。現在のステップが終わると答えます。</translation>
    </message>
    <message>
        <source>cut at the token limit</source>
        <translation>トークン数の上限で打ち切り</translation>
    </message>
    <message>
        <source>No samples yet. Type a prompt below, or name some in the configuration under sample_prompts.</source>
        <translation>サンプルはまだありません。下にプロンプトを入力するか、設定の sample_prompts に記述してください。</translation>
    </message>
</context>
<context>
    <name>ringmaster::SequenceView</name>
    <message>
        <source>every rank holds whole sequences</source>
        <translation>各ランクがシーケンスをまるごと保持</translation>
    </message>
    <message>
        <source>Who holds which tokens</source>
        <translation>トークンの分担</translation>
    </message>
    <message>
        <source>Nothing is planned yet</source>
        <translation>プランはまだありません</translation>
    </message>
    <message>
        <source>The length of a sequence is not known.</source>
        <translation>シーケンスの長さが不明です。</translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>上の問題を解決するまで不明です。</translation>
    </message>
    <message>
        <source>Where the tokens lie depends on the documents of each row.</source>
        <translation>トークンの位置は各行のドキュメントによって決まります。</translation>
    </message>
    <message>
        <source>rank %1: %2 of the busiest rank&apos;s attention work</source>
        <translation>ランク %1：アテンションの計算量は最も忙しいランクの %2</translation>
    </message>
    <message>
        <source>attention work of each rank</source>
        <translation>各ランクのアテンションの計算量</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>ランク %1</translation>
    </message>
    <message>
        <source>token %1: rank %2, which holds %3 tokens</source>
        <translation>トークン %1：ランク %2（%3 トークンを保持）</translation>
    </message>
</context>
<context>
    <name>ringmaster::ServiceSwitch</name>
    <message>
        <source>Go on by itself after a restart of the machine</source>
        <translation>マシンの再起動後に自動的に続行する</translation>
    </message>
    <message>
        <source>A user service of systemd; in a terminal: %1</source>
        <translation>systemd のユーザーサービス。端末では：%1</translation>
    </message>
    <message>
        <source>The service begins when you log in, and runs that it has started end when you log out. To start it at boot and keep its runs: %1</source>
        <translation>サービスはログイン時に始まり、サービスが開始した実行はログアウト時に終了します。マシンの起動時に開始し、実行を残すには：%1</translation>
    </message>
    <message>
        <source>The service could not be switched on.</source>
        <translation>サービスをオンにできませんでした。</translation>
    </message>
    <message>
        <source>The service could not be switched off.</source>
        <translation>サービスをオフにできませんでした。</translation>
    </message>
    <message>
        <source>Nothing was changed. After a restart of the machine, open Ringmaster once: the queue then goes on.</source>
        <translation>何も変更されていません。マシンの再起動後に Ringmaster を一度開くと、キューが続行します。</translation>
    </message>
</context>
<context>
    <name>ringmaster::SlurmFields</name>
    <message>
        <source>on this machine</source>
        <translation>このマシン</translation>
    </message>
    <message>
        <source>through %1</source>
        <translation>%1 経由</translation>
    </message>
    <message>
        <source>the cluster&apos;s default</source>
        <translation>クラスタの既定値</translation>
    </message>
    <message>
        <source>as planned</source>
        <translation>プランどおり</translation>
    </message>
    <message>
        <source>Submitted</source>
        <translation>投入先</translation>
    </message>
    <message>
        <source>Partition</source>
        <translation>パーティション</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>ノード数</translation>
    </message>
    <message>
        <source>Account</source>
        <translation>アカウント</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>時間</translation>
    </message>
    <message>
        <source>GPUs of a node (gres)</source>
        <translation>ノードの GPU（gres）</translation>
    </message>
    <message>
        <source>More sbatch options, one a line</source>
        <translation>その他の sbatch オプション（1 行に 1 つ）</translation>
    </message>
    <message>
        <source>Any other long option of sbatch, key=value, one a line</source>
        <translation>sbatch のその他の長いオプション、key=value、1 行に 1 つ</translation>
    </message>
    <message>
        <source>your default account</source>
        <translation>既定のアカウント</translation>
    </message>
</context>
<context>
    <name>ringmaster::StartPage</name>
    <message>
        <source>No runs yet. What you launch appears here, and stays when the window is closed.</source>
        <translation>実行はまだありません。起動したものがここに並び、ウィンドウを閉じても残ります。</translation>
    </message>
    <message>
        <source>No file yet. Configurations that you open are listed here.</source>
        <translation>ファイルはまだありません。開いた設定がここに並びます。</translation>
    </message>
    <message>
        <source>Drop a configuration (YAML) to plan it, or a run&apos;s folder to watch it.</source>
        <translation>設定（YAML）をドロップするとプランを、実行のフォルダをドロップするとモニターを開きます。</translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation>設定を開く</translation>
    </message>
    <message>
        <source>An axolotl YAML: see what it needs before anything runs. Or drop the file here.</source>
        <translation>axolotl の YAML を開き、実行の前に何が必要かを確認します。ここにドロップしても開けます。</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>サンプルを試す</translation>
    </message>
    <message>
        <source>A small model that learns to write Python, on this machine, in minutes.</source>
        <translation>Python の書き方を学ぶ小さなモデルを、このマシンで数分で学習できます。</translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation>実行に接続</translation>
    </message>
    <message>
        <source>Watch one that is at work, or look through one that is over.</source>
        <translation>進行中の実行を見守り、終わった実行を振り返ります。</translation>
    </message>
    <message>
        <source>Recent runs</source>
        <translation>最近の実行</translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation>最近のファイル</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>%1 を開く</translation>
    </message>
    <message>
        <source>%1 is not a run&apos;s folder: it has no run.json.</source>
        <translation>%1 は実行のフォルダではありません：run.json がありません。</translation>
    </message>
</context>
<context>
    <name>ringmaster::StartedRun</name>
    <message>
        <source>ranks</source>
        <translation>ランク</translation>
    </message>
    <message>
        <source>The ranks&apos; logs are in Monitor.</source>
        <translation>ランクのログはモニターにあります。</translation>
    </message>
</context>
<context>
    <name>ringmaster::Stepper</name>
    <message>
        <source>%1: done</source>
        <translation>%1：完了</translation>
    </message>
    <message>
        <source>%1: failed</source>
        <translation>%1：失敗</translation>
    </message>
    <message>
        <source>%1: at work</source>
        <translation>%1：進行中</translation>
    </message>
    <message>
        <source>%1: still to come</source>
        <translation>%1：これから</translation>
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
        <translation>ランクの総数。GPU ごとに 1 つ。</translation>
    </message>
    <message>
        <source>Machines that the ranks are spread over</source>
        <translation>ランクを配置するマシンの数</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>自動</translation>
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
        <translation>ランクを実行するデバイス</translation>
    </message>
    <message>
        <source>Memory of one device</source>
        <translation>1 デバイスのメモリ</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>ランク数</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>ノード数</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>デバイス</translation>
    </message>
    <message>
        <source>Device memory</source>
        <translation>デバイスメモリ</translation>
    </message>
    <message>
        <source>accelerate file</source>
        <translation>accelerate ファイル</translation>
    </message>
    <message>
        <source>auto (%1)</source>
        <extracomment>the program&apos;s automatic choice and its result, such as &quot;auto (8)&quot;</extracomment>
        <translation>自動（%1）</translation>
    </message>
    <message>
        <source>None…</source>
        <translation>なし…</translation>
    </message>
    <message>
        <source>Take parallel sizes from an accelerate YAML</source>
        <translation>並列サイズを accelerate の YAML から読み込みます</translation>
    </message>
    <message>
        <source>%1 overrides the sizes of the text. Press to leave it out.</source>
        <translation>%1 がファイルのサイズより優先されます。押すと外します。</translation>
    </message>
    <message>
        <source>Open an accelerate file</source>
        <translation>accelerate ファイルを開く</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>すべてのファイル (*)</translation>
    </message>
</context>
<context>
    <name>ringmaster::TrustDialog</name>
    <message>
        <source>Is this really %1?</source>
        <translation>本当に %1 ですか？</translation>
    </message>
    <message>
        <source>It shows a host key that is not known on this machine. If the key is not its own, someone may be intercepting the connection. Nothing has been sent to it yet.</source>
        <translation>相手が提示したホスト鍵は、このマシンには記録されていません。相手のマシン本来の鍵でなければ、第三者が通信に割り込んでいるおそれがあります。まだ何も送信していません。</translation>
    </message>
    <message>
        <source>Fingerprint</source>
        <translation>フィンガープリント</translation>
    </message>
    <message>
        <source>Type of key</source>
        <translation>鍵の種類</translation>
    </message>
    <message>
        <source>Remembered in</source>
        <translation>記録先</translation>
    </message>
    <message>
        <source>Ask whoever runs the machine, or compare it with what this command prints there:</source>
        <translation>マシンの管理者に確認するか、そのマシンでこのコマンドが表示する値と比べてください：</translation>
    </message>
    <message>
        <source>Do not trust it</source>
        <translation>信頼しない</translation>
    </message>
    <message>
        <source>Trust and remember</source>
        <translation>信頼して記録</translation>
    </message>
</context>
<context>
    <name>ringmaster::TryPage</name>
    <message>
        <source>Another model</source>
        <translation>別のモデル</translation>
    </message>
    <message>
        <source>Merge…</source>
        <translation>統合…</translation>
    </message>
    <message>
        <source>Show the run</source>
        <translation>実行を表示</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>試す</translation>
    </message>
    <message>
        <source>Add the adapter to its base model&apos;s weights, and write a whole model</source>
        <translation>アダプタをベースモデルの重みに加え、完全なモデルを書き出します</translation>
    </message>
    <message>
        <source>No model is chosen</source>
        <translation>モデルが選択されていません</translation>
    </message>
    <message>
        <source>Choose a run that has completed, or the folder of a model or an adapter. It continues your prompts here, beside its base model.</source>
        <translation>完了した実行か、モデルまたはアダプタのフォルダを選択してください。ここで、プロンプトの続きをベースモデルと並べて生成します。</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>モデルを選択</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>プロンプト</translation>
    </message>
    <message>
        <source>A text that the model continues, or a question</source>
        <translation>続きを生成させるテキスト、または質問</translation>
    </message>
    <message>
        <source>As a chat message</source>
        <translation>チャットのメッセージとして送る</translation>
    </message>
    <message>
        <source>The chat template asks for the answer; without it, the model continues the text</source>
        <translation>チャットテンプレートで回答を求めます。指定しなければ、モデルはテキストの続きを書きます。</translation>
    </message>
    <message>
        <source>Beside the base model</source>
        <translation>ベースモデルと並べる</translation>
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
        <translation>最大トークン数</translation>
    </message>
    <message>
        <source>Ends each text there</source>
        <translation>この長さで各テキストを終えます</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>0 takes the most probable token each time; higher values draw less probable ones</source>
        <translation>0 では毎回もっとも確率の高いトークンを選びます。値を上げると確率の低いものも選ばれます。</translation>
    </message>
    <message>
        <source>Top k</source>
        <translation>Top k</translation>
    </message>
    <message>
        <source>Draws among this many most probable tokens</source>
        <translation>確率の高い順にこの数のトークンから選びます</translation>
    </message>
    <message>
        <source>all</source>
        <translation>すべて</translation>
    </message>
    <message>
        <source>Top p</source>
        <translation>Top p</translation>
    </message>
    <message>
        <source>Draws among the most probable tokens that together have this probability</source>
        <translation>確率の合計がこの値になるまでの上位のトークンから選びます</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>シード</translation>
    </message>
    <message>
        <source>The same seed draws the same tokens</source>
        <translation>同じシードなら同じトークンを選びます</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>デバイス</translation>
    </message>
    <message>
        <source>Where the model runs</source>
        <translation>モデルを動かす場所</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>消去</translation>
    </message>
    <message>
        <source>Remove the answers from this page</source>
        <translation>このページから回答を消します</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>進行状況</translation>
    </message>
    <message>
        <source>What the models write appears here, the newest first.</source>
        <translation>生成された文章が、新しい順にここに表示されます。</translation>
    </message>
    <message>
        <source>No run has completed yet</source>
        <translation>完了した実行はまだありません</translation>
    </message>
    <message>
        <source>A model&apos;s or an adapter&apos;s folder…</source>
        <translation>モデルまたはアダプタのフォルダ…</translation>
    </message>
    <message>
        <source>Choose the folder of a model or an adapter</source>
        <translation>モデルまたはアダプタのフォルダを選択</translation>
    </message>
    <message>
        <source>This model cannot be tried.</source>
        <translation>このモデルは試せません。</translation>
    </message>
    <message>
        <source>The base model answers first</source>
        <translation>ベースモデルが先に答えます</translation>
    </message>
    <message>
        <source>This folder names no base model to compare with</source>
        <translation>このフォルダには比較するベースモデルの指定がありません</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation>%1：%2 / %3</translation>
    </message>
    <message>
        <source>The merged model is in %1.</source>
        <translation>統合したモデルは %1 にあります。</translation>
    </message>
    <message>
        <source>Try the merged model</source>
        <translation>統合したモデルを試す</translation>
    </message>
    <message>
        <source>The model is not merged.</source>
        <translation>モデルは統合されませんでした。</translation>
    </message>
    <message>
        <source>Nothing was generated.</source>
        <translation>何も生成されませんでした。</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>停止しました。</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>モデルを読み込んでいます</translation>
    </message>
    <message>
        <source>The base model</source>
        <translation>ベースモデル</translation>
    </message>
    <message>
        <source>The trained model</source>
        <translation>学習済みモデル</translation>
    </message>
    <message numerus="yes">
        <source>%1 writes: %n token(s)</source>
        <extracomment>%1 is &quot;The base model&quot; or &quot;The trained model&quot;</extracomment>
        <translation>
            <numerusform>%1が書いています：%n トークン</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 wrote %2 tokens per second.</source>
        <translation>%1は毎秒 %2 トークンを書きました。</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>セットアップ</translation>
    </message>
    <message>
        <source>Write the merged model into a new folder</source>
        <translation>統合したモデルを新しいフォルダに書き出す</translation>
    </message>
    <message>
        <source>Merging the adapter into its base</source>
        <translation>アダプタをベースモデルに統合しています</translation>
    </message>
    <message>
        <source>Base</source>
        <translation>ベース</translation>
    </message>
    <message>
        <source>Trained</source>
        <translation>学習済み</translation>
    </message>
    <message>
        <source>Publish</source>
        <translation>公開</translation>
    </message>
    <message>
        <source>Upload to the Hugging Face hub…</source>
        <translation>Hugging Face Hub にアップロード…</translation>
    </message>
    <message>
        <source>Write as GGUF…</source>
        <translation>GGUF として書き出す…</translation>
    </message>
    <message>
        <source>One file for llama.cpp, by its own converter</source>
        <translation>llama.cpp 自身の変換プログラムが書き出す、llama.cpp 用の一つのファイル</translation>
    </message>
    <message>
        <source>The model is not uploaded.</source>
        <translation>モデルはアップロードされていません。</translation>
    </message>
    <message>
        <source>The model is not converted.</source>
        <translation>モデルは変換されていません。</translation>
    </message>
    <message>
        <source>Uploading the model</source>
        <translation>モデルをアップロードしています</translation>
    </message>
    <message>
        <source>Write the model as GGUF</source>
        <translation>モデルを GGUF として書き出す</translation>
    </message>
    <message>
        <source>GGUF files (*.gguf)</source>
        <translation>GGUF ファイル (*.gguf)</translation>
    </message>
    <message>
        <source>Converting the model</source>
        <translation>モデルを変換しています</translation>
    </message>
    <message>
        <source>The model is at %1.</source>
        <translation>モデルは %1 にあります。</translation>
    </message>
    <message>
        <source>The model is in %1.</source>
        <translation>モデルは %1 にあります。</translation>
    </message>
    <message>
        <source>Show it</source>
        <translation>表示</translation>
    </message>
</context>
<context>
    <name>ringmaster::YamlEditor</name>
    <message>
        <source>Configuration text</source>
        <translation>設定のテキスト</translation>
    </message>
</context>
<context>
    <name>ringmaster::YamlTyping</name>
    <message>
        <source>%1 is used here.</source>
        <translation>%1 はここで使われます。</translation>
    </message>
    <message>
        <source>%1 has no effect here.</source>
        <translation>%1 はここでは効果がありません。</translation>
    </message>
    <message>
        <source>%1 is not supported here.</source>
        <translation>%1 はここでは対応していません。</translation>
    </message>
    <message>
        <source>Keys that begin so</source>
        <translation>この文字で始まるキー</translation>
    </message>
</context>
</TS>
