<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de">
<context>
    <name>Charts</name>
    <message>
        <source>steady</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rising</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>falling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <extracomment>a chart for a screen reader: name of a line, its last figure, and how it goes (&quot;falling&quot;)</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2, %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No data yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>And %n more.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompareCurves</name>
    <message>
        <source>time in steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Figures</name>
    <message>
        <source>ms</source>
        <extracomment>second, as a unit</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>min</source>
        <extracomment>minutes, as a unit</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>h</source>
        <extracomment>hours, as a unit</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>d</source>
        <extracomment>days, as a unit</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>the data are as old as this moment</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ago</source>
        <extracomment>how long ago something happened; %1 is &quot;12 s&quot; or &quot;3 min&quot;</extracomment>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Log</name>
    <message>
        <source>attempt %1 on %2, %3, Ringmaster %4, LibTorch %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>phase: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>evaluation after step %1: loss %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>checkpoint of step %1 saved in %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>completed after step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped after step %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MachineWords</name>
    <message>
        <source>Devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1; the NVIDIA driver shows no GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look at CUDA_VISIBLE_DEVICES and nvidia-smi.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, no NVIDIA GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plans for any number of GPUs, trains on the processor.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1; driver %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk cannot be asked.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Little room: a run could fill the disk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n host(s) in ~/.ssh/config</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>SSH</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>agent answers; %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>agent does not answer; %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start it again: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no agent; %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Needed for other machines only: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>installed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Install or build Ringmaster whole.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CUDA</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the engine&apos;s CUDA part is there</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not in this build: GPUs stay unused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Build it on a machine with the CUDA toolkit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LibTorch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, set up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not set up yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Planning works without it; training needs it (about 3 GB to load).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 available</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cache</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MemoryCard</name>
    <message>
        <source>weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>gradients</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>activations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>workspace</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>logits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>communication</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>runtime</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Monitor</name>
    <message>
        <source>rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>time</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>median of %n ranks, from least to greatest</source>
        <extracomment>in a legend: %n ranks in one line, and the area between the least and the greatest</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>global</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>evaluation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>compute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>other</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>expected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>capacity</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ranks over time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overlap</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>global, and each rank&apos;s own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>median of the ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>share of a step that waits, by rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensors at the peak, of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tensors at the peak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>own work against the median</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens a second, all ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>share of the communication that computation hides</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>before clipping</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens a second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PlanVerdict</name>
    <message>
        <source>%1 of %2 on the fullest rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 exposed communication</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about %1 in all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>INVALID</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n problem(s) before it can launch.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n CPU rank(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>no splitting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>FITS</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>TIGHT</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>WILL NOT FIT</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>UNKNOWN</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine is still being asked.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory and time are not known.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as the text is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fits where the present plan does not</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>layers are computed again in the backward: less memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>activations are kept: nothing is computed twice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>every rank has the same attention work</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence instead of %1: less is exchanged</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence: %1 tokens on each</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>the global batch becomes %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>micro-batches of another size</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RunMarks</name>
    <message>
        <source>waiting</source>
        <extracomment>state of a run</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>preparing</source>
        <extracomment>state of a run</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>running</source>
        <extracomment>state of a run</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopping</source>
        <extracomment>state of a run</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>completed</source>
        <extracomment>state of a run</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <extracomment>state of a run</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <extracomment>state of a run</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>damaged</source>
        <extracomment>state of a run</extracomment>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Verdicts</name>
    <message>
        <source>A rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank %1</source>
        <extracomment>%1 is a rank&apos;s number, %2 its host</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank %1 on %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume goes on from the checkpoint of step %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No checkpoint was saved: resume starts from the beginning.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has come least far: step %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 has not finished a step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its last phase was %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No step for %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look at its log; stop now and resume if it does not come back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The loss is not a number.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It began at step %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop now and lower the learning rate or max_grad_norm.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop now, lower the learning rate or max_grad_norm, and resume from step %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory is nearly full.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 uses %2 of its device at the peak.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A longer sequence or a larger batch would not fit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is slow.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The others wait %1 of a step for it since step %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check that device: temperature, clock, other programs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The loss has jumped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>At step %1 it is %2 above the usual.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Watch the gradient norm; lower the learning rate if it stays.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It has become slower.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens a second fell by %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look for other programs on the nodes, and at the wait for data.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Much waiting for communication.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of a step is exposed communication.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Better plans on the Plan page may expose less.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Completed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model is in %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Failed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the ranks meet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loading the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokenizing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>saving the final model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting to start.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Now: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Running well.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of a step is exposed communication; no rank holds the others up.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saving the final model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The step is finished and a checkpoint saved.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disconnected.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last heard %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run may well go on; what is known stays here.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::AdviceCard</name>
    <message>
        <source>Better plans</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ranked by predicted tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is planned yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show fewer</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Show %n more</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>The present plan is the fastest; these would be the next.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No other mesh of this text can be trained as it stands.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing can be ranked: the model&apos;s shape is not known here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writes into the text:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 exposed</source>
        <extracomment>share of a step that is communication which computation does not hide</extracomment>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::BatchCard</name>
    <message>
        <source>Global batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changes gradient_accumulation_steps in the text; undo takes it back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Global batch: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep %1: accumulate %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%1 becomes %2: %n rank(s) share one sequence.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) a step.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 micro × %2 accumulation × (%3 ranks ÷ %4)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens a step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::ChartCard</name>
    <message>
        <source>Menu of the chart %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the chart, or see all of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save picture…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pictures (*.png)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save figures…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Figures (*.csv)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show all of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The picture cannot be written there.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::CompareView</name>
    <message>
        <source>Logarithmic loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing differs in what was asked for.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Figures of the compared runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines that differ</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the table (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overhead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Figures</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>against the first run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in the configuration and, grey, in the plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Along</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Over completed steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Over the tokens trained on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Over the seconds spent in steps: without pauses, saving and evaluation</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 has no steps yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not everything can be compared.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::ContextCard</name>
    <message>
        <source>Context parallel size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context parallel size %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share one sequence</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Divisors of %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share one sequence of %1 tokens: %2 each.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Every rank holds whole sequences of %1 tokens.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::DetailsPanel</name>
    <message>
        <source>Open in Monitor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duplicate into Plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume from here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>File</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configuration of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Summary</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chosen run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open in Monitor (Enter)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More actions for this run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save diagnostics…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export as CSV…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export for TensorBoard…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the run&apos;s folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the trained model&apos;s folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>best loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>overhead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>duration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Complete checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No run is chosen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This run&apos;s files are damaged.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It failed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens a sequence</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) a step</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>started %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Goes on from the newest complete checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only a run that stopped or failed can go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No checkpoint was saved to its end yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::EstimateBars</name>
    <message>
        <source>Estimate beside measurement</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of the fullest rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overhead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not measured yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 below the estimate</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 above the estimate</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>measured</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::FiguresModel</name>
    <message>
        <source>Last loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Best loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overhead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory ÷ estimate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step time ÷ estimate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the same</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 less</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>better by %1</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worse by %1</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Figure</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::FindBar</name>
    <message>
        <source>Find</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find in the text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous (Shift+Enter)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next (Enter)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not found</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n found</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::HeatMap</name>
    <message>
        <source>Ranks over time</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n ranks against their median.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is slower now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>faster</source>
        <extracomment>of the heat map&apos;s colours: left of it, right of it</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>slower by a quarter or more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing to compare yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2, %3 slower than the median</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2, %3 faster than the median</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::HelpPage</name>
    <message>
        <source>Search help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search help (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Topics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Explanation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Figures</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Messages</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::KeysCard</name>
    <message>
        <source>Keys of the file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Used: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Without effect here: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not supported: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::LaunchDialog</name>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Launch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prepare model and data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start the ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ranks meet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overwrite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Install PyTorch and the Hugging Face libraries (some GB)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The example</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make the example</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show in Monitor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The ranks&apos; logs are in Monitor.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>line %1: </source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It did not start.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>calling it off</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::LinesModel</name>
    <message>
        <source>What the plan made of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the configuration says</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::LogModel</name>
    <message>
        <source>warning: </source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>error: </source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>agent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::LogView</name>
    <message>
        <source>Whose log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All, by time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Agent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First error, rank %1 at %2: %3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::MachineCard</name>
    <message>
        <source>Open the folder %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking at this machine…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>worth knowing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set up LibTorch</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::MainWindow</name>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Monitor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Menu</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach to a run…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the desktop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About Ringmaster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ringmaster %1

Plans, launches and watches the training of language models on sequences too long for one GPU.

GPL-3.0-or-later. Built on Qt %2, LibTorch, yaml-cpp and libssh.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>looking at this machine…</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>A run is at work</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) are still training.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Left running, they go on without the window. Open them again under Runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not stopped</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::MemoryCard</name>
    <message>
        <source>Memory of the fullest rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory by component</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Legend of the memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sequence_len to try</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not known before the problems above are solved.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s shape is not known here, so memory and time are not.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>low %1, expected %2, high %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>if sequence_len were %1: </source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest that fits: %1 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No length fits with this mesh and these options.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::MeshView</name>
    <message>
        <source>Mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n group(s) of ranks that share a sequence</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 ranks on %2 nodes: %3, %4 ranks each</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>node %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ranks %1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 on node %2: dp_replicate %3, dp_shard %4, ring %5, ulysses %6</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::MonitorPage</name>
    <message>
        <source>reading…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This run cannot be shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach to a folder…</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hosts</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2 of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step · %1 left</source>
        <extracomment>under the number of steps; %1 is a duration</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <extracomment>memory: measured of capacity</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fullest rank · expected %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fullest rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ended %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last heard</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) of its events make no sense and are left out.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Its plan cannot be read: no estimates.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Figures (*.csv)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export into an empty folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exported: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There are no runs yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach to a run&apos;s folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No run is open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Here a run shows its loss, its ranks and what holds them up, while it trains and afterwards.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finish the step, save a checkpoint, end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End at once; what came after the last checkpoint is lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on from the newest complete checkpoint</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All figures as CSV…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>TensorBoard files…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Progress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens a second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold the charts still; the run goes on (Space)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Moving average over the steps; what was measured stays behind it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the charts run along</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logarithmic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logarithmic figures; 0 and below are drawn at the foot</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow the end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the last steps only, and go with them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show all steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo the zoom (double click in a chart)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Along</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing measured yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a click on a column sorts, a row is drawn out in the charts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of all ranks by time, with the run&apos;s events</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::NotesEditor</name>
    <message>
        <source>Tags, with commas between them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tags</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notes about this run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not saved yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved in notes.json</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::PlanBoard</name>
    <message>
        <source>Mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who holds which tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time of a step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Legend of the time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The sizes do not multiply to the ranks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rings cross nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the busiest rank works %1 × the mean</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all ranks work the same</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The time of a step is not known.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>compute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From measured speeds.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From assumed speeds, until they are measured.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Computation hides another %1 of communication.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::PlanPage</name>
    <message>
        <source>Save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save as…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Launch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No configuration is open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open an axolotl YAML or drop it here. You see what it means on your GPUs before anything runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save under another name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edits are not saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the edits of %1?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the unsaved copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Discard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The edits are saved before the launch.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save and launch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file has changed on the disk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reloading replaces your edits; undo brings them back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reload</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unsaved edits could not be kept: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an unsaved copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edits were not saved.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The app ended while %1 was edited (%2).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restore</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unsaved copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plan</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>edited</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not planned yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Launch on %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prepare and start the training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An accelerate file alone can be planned, not launched.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::Plot</name>
    <message>
        <source>0 and below lie at the foot</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::ProblemList</name>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n warning(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n note(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>No problems</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Error</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Note</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename to %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Problems</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What this code means, with an example</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Explain %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changes the text; undo takes it back</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::RankTableModel</name>
    <message>
        <source>%1 at the peak; the plan expects %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Host</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mesh</source>
        <extracomment>a rank&apos;s coordinates in the mesh</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step time</source>
        <extracomment>seconds that a step takes</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Wait</source>
        <extracomment>how long it waits for the others in a step</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comm.</source>
        <extracomment>time of communication in a step</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exposed</source>
        <extracomment>communication that computation does not hide, as a share of the step</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Heard</source>
        <extracomment>how long ago something was heard of the rank</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Number of the rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Host it runs on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device it trains on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its place in the mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last step that it finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mean loss over its own labels</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time of a step, median of the last 10</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exposed communication of a step: it waits for others, or for the network</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time in which its collectives were in flight</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exposed communication as a share of the step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tensors at the peak of its last step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When something was last heard of it</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::RecentRunsModel</name>
    <message>
        <source>step %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::RunActions</name>
    <message numerus="yes">
        <source>%1 with %n checkpoint(s)</source>
        <extracomment>%1 is a size such as 12 GiB</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is not there any more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No program here opens folders: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save diagnostics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Archive (*.tar.gz)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export as CSV</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table (*.csv)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export for TensorBoard, into a new folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved %1. Look through it before you pass it on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved %1: %2 rows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved %1: %2 values.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Delete %n run(s)?</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Lost for good: %1, the curves, logs and notes. The trained model in the output folder stays.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Deleted %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Deleted %n run(s).</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsModel</name>
    <message>
        <source>ring %1</source>
        <extracomment>ranks that pass keys and values round, in a mesh</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shard %1</source>
        <extracomment>ranks that hold a part of the weights each, in a mesh</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replica %1</source>
        <extracomment>groups of ranks that hold a copy of the weights each, in a mesh</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Best loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overhead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mesh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tags</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reason</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Completed optimizer steps, and how many there will be</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss of the last step, over the whole global batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lowest loss of a step; in a long run the lowest of those looked at</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens a second over the steps looked at, saving and evaluation not counted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Highest measured memory of a step, on the fullest rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of the fullest rank as the plan expected it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the step in which communication was not hidden behind computation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the ranks are arranged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of one sequence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows of one optimizer step, over all ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From the start of the last attempt to its end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <extracomment>384 of 1,000 steps</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run is long: the lowest of the steps looked at</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsPage</name>
    <message>
        <source>Compare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you launch appears here with what mattered: loss, tokens a second, memory and why it ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No run matches</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looked for in names, models, states, tags, notes and reasons.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show all runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search the runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search the runs (%1)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Columns</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose columns</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n of them at work</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2 found</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Compare %n run(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Choose two to eight runs: Ctrl or Shift and a click, or Shift and an arrow key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>That did not work.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsTable</name>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::SequenceView</name>
    <message>
        <source>Who holds which tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is planned yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The length of a sequence is not known.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the tokens lie depends on the documents of each row.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1: %2 of the busiest rank&apos;s attention work</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>attention work of each rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token %1: rank %2, which holds %3 tokens</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::StartPage</name>
    <message>
        <source>No run yet. What you launch appears here, and stays when the window is closed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No file yet. Configurations that you open are listed here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop a configuration (YAML) to plan it, or a run&apos;s folder to watch it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An axolotl YAML: see what it needs before anything runs. Or drop the file here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A small model that learns to write Python, on this machine, in minutes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Watch one that is at work, or look through one that is over.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recent runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is not a run&apos;s folder: it has no run.json.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::Stepper</name>
    <message>
        <source>%1: done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: at work</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: still to come</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <extracomment>a step of the preparation, how much of it is done, of how much</extracomment>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::TopologyBar</name>
    <message>
        <source>Ranks in total, one for each GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Machines that the ranks are spread over</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auto</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the ranks run on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of one device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>accelerate file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auto (%1)</source>
        <extracomment>a choice left to the program, and what it took: &quot;auto (8)&quot;</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take parallel sizes from an accelerate YAML</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 overrides the sizes of the text. Press to leave it out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open an accelerate file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ringmaster::YamlEditor</name>
    <message>
        <source>Configuration text</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
