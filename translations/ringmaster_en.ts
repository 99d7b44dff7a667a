<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>Charts</name>
    <message numerus="yes">
        <source>And %n more.</source>
        <translation>
            <numerusform>And %n more.</numerusform>
            <numerusform>And %n more.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LaunchRemarks</name>
    <message numerus="yes">
        <source>The plan is for %n GPU(s); this machine has none.</source>
        <translation>
            <numerusform>The plan is for %n GPU; this machine has none.</numerusform>
            <numerusform>The plan is for %n GPUs; this machine has none.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The plan is for %n GPU(s); this machine has %1.</source>
        <translation>
            <numerusform>The plan is for %n GPU; this machine has %1.</numerusform>
            <numerusform>The plan is for %n GPUs; this machine has %1.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Log</name>
    <message numerus="yes">
        <source>%n sample(s) written after step %1</source>
        <translation>
            <numerusform>%n sample written after step %1</numerusform>
            <numerusform>%n samples written after step %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MachineWords</name>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n core</numerusform>
            <numerusform>%n cores</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n host(s) in ~/.ssh/config</source>
        <translation>
            <numerusform>%n host in ~/.ssh/config</numerusform>
            <numerusform>%n hosts in ~/.ssh/config</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Monitor</name>
    <message numerus="yes">
        <source>median and range of %n ranks</source>
        <extracomment>name in a legend: median of %n ranks as a line, with the area between the least and the greatest</extracomment>
        <translation>
            <numerusform>median and range of %n rank</numerusform>
            <numerusform>median and range of %n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>NodeWords</name>
    <message numerus="yes">
        <source>%1 of %n node(s) idle</source>
        <translation>
            <numerusform>%1 of %n node idle</numerusform>
            <numerusform>%1 of %n nodes idle</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <extracomment>processor cores of a node of Slurm</extracomment>
        <translation>
            <numerusform>%n core</numerusform>
            <numerusform>%n cores</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PlanVerdict</name>
    <message numerus="yes">
        <source>%n problem(s) before it can launch.</source>
        <translation>
            <numerusform>%n problem before it can launch.</numerusform>
            <numerusform>%n problems before it can launch.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation>
            <numerusform>%n GPU</numerusform>
            <numerusform>%n GPUs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n CPU rank(s)</source>
        <translation>
            <numerusform>%n CPU rank</numerusform>
            <numerusform>%n CPU ranks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence instead of %1: less is exchanged</source>
        <translation>
            <numerusform>%n rank holds a sequence instead of %1: less is exchanged</numerusform>
            <numerusform>%n ranks share a sequence instead of %1: less is exchanged</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence: %1 tokens on each</source>
        <translation>
            <numerusform>%n rank holds a sequence: %1 tokens on each</numerusform>
            <numerusform>%n ranks share a sequence: %1 tokens on each</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>states are shared by %n rank(s) (ZeRO %1): less memory</source>
        <translation>
            <numerusform>states lie on %n rank (ZeRO %1): less memory</numerusform>
            <numerusform>states are shared by %n ranks (ZeRO %1): less memory</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) split the heads by all-to-all: fewer hops in a ring</source>
        <translation>
            <numerusform>%n rank holds all heads: fewer hops in a ring</numerusform>
            <numerusform>%n ranks split the heads by all-to-all: fewer hops in a ring</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::AdviceCard</name>
    <message numerus="yes">
        <source>Show %n more</source>
        <translation>
            <numerusform>Show %n more</numerusform>
            <numerusform>Show %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::BatchCard</name>
    <message numerus="yes">
        <source>%1 becomes %2: %n rank(s) share one sequence.</source>
        <translation>
            <numerusform>%1 becomes %2: %n rank holds one sequence.</numerusform>
            <numerusform>%1 becomes %2: %n ranks share one sequence.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>row(s) a step</source>
        <extracomment>below a figure, the number of the rows</extracomment>
        <translation>
            <numerusform>row a step</numerusform>
            <numerusform>rows a step</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 micro × %2 accumulation × (%n rank(s) ÷ %3)</source>
        <translation>
            <numerusform>%1 micro × %2 accumulation × (%n rank ÷ %3)</numerusform>
            <numerusform>%1 micro × %2 accumulation × (%n ranks ÷ %3)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::CompareView</name>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::ContextCard</name>
    <message numerus="yes">
        <source>%n rank(s) share one sequence</source>
        <translation>
            <numerusform>%n rank holds a whole sequence</numerusform>
            <numerusform>%n ranks share one sequence</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share one sequence of %1 tokens: %2 each.</source>
        <translation>
            <numerusform>%n rank holds one sequence of %1 tokens: %2 each.</numerusform>
            <numerusform>%n ranks share one sequence of %1 tokens: %2 each.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::DataPage</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) hold it</source>
        <translation>
            <numerusform>%n row holds it</numerusform>
            <numerusform>%n rows hold it</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n document(s)</source>
        <translation>
            <numerusform>%n document</numerusform>
            <numerusform>%n documents</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::DetailsPanel</name>
    <message numerus="yes">
        <source>%n row(s) a step</source>
        <translation>
            <numerusform>%n row a step</numerusform>
            <numerusform>%n rows a step</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::FetchDialog</name>
    <message numerus="yes">
        <source>%n file(s), %1, of which %2 came now</source>
        <extracomment>%n is a number of files, %1 and %2 are sizes</extracomment>
        <translation>
            <numerusform>%n file, %1, of which %2 came now</numerusform>
            <numerusform>%n files, %1, of which %2 came now</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::FindBar</name>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>%n found</numerusform>
            <numerusform>%n found</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::HeatMap</name>
    <message numerus="yes">
        <source>%n ranks against their median.</source>
        <translation>
            <numerusform>%n rank against the median.</numerusform>
            <numerusform>%n ranks against their median.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::MainWindow</name>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n core</numerusform>
            <numerusform>%n cores</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation>
            <numerusform>%n GPU</numerusform>
            <numerusform>%n GPUs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) are still training.</source>
        <translation>
            <numerusform>%n run is still training.</numerusform>
            <numerusform>%n runs are still training.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) over several nodes would not be started again after a failure.</source>
        <translation>
            <numerusform>%n run over several nodes would not be started again after a failure.</numerusform>
            <numerusform>%n runs over several nodes would not be started again after a failure.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::MeshView</name>
    <message numerus="yes">
        <source>%n group(s) of ranks that share a sequence</source>
        <translation>
            <numerusform>%n group of ranks that share a sequence</numerusform>
            <numerusform>%n groups of ranks that share a sequence</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::MonitorPage</name>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hosts</source>
        <translation>
            <numerusform>%n host</numerusform>
            <numerusform>%n hosts</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) of its events make no sense and are left out.</source>
        <translation>
            <numerusform>%n line of its events makes no sense and is left out.</numerusform>
            <numerusform>%n lines of its events make no sense and are left out.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::NodesPage</name>
    <message numerus="yes">
        <source>%n target(s)</source>
        <translation>
            <numerusform>%n target</numerusform>
            <numerusform>%n targets</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::ParallelPlot</name>
    <message numerus="yes">
        <source>%n run(s) shown</source>
        <translation>
            <numerusform>%n run shown</numerusform>
            <numerusform>%n runs shown</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::PlanBoard</name>
    <message numerus="yes">
        <source>%n node(s) × %1</source>
        <translation>
            <numerusform>%n node × %1</numerusform>
            <numerusform>%n nodes × %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::ProblemList</name>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n error</numerusform>
            <numerusform>%n errors</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n warning(s)</source>
        <translation>
            <numerusform>%n warning</numerusform>
            <numerusform>%n warnings</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n note(s)</source>
        <translation>
            <numerusform>%n note</numerusform>
            <numerusform>%n notes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::QueueDialog</name>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::RunActions</name>
    <message numerus="yes">
        <source>%1 with %n checkpoint(s)</source>
        <extracomment>%1 is a size such as 12 GiB</extracomment>
        <translation>
            <numerusform>%1 with %n checkpoint</numerusform>
            <numerusform>%1 with %n checkpoints</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %n run(s)?</source>
        <translation>
            <numerusform>Delete %n run?</numerusform>
            <numerusform>Delete %n runs?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Deleted %n run(s).</source>
        <translation>
            <numerusform>Deleted %n run.</numerusform>
            <numerusform>Deleted %n runs.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Lost for good: %1, the curves, logs and notes. The trained model(s) in the output folder(s) stay.</source>
        <translation>
            <numerusform>Lost for good: %1, the curves, logs and notes. The trained model in the output folder stays.</numerusform>
            <numerusform>Lost for good: %1, the curves, logs and notes. The trained models in the output folders stay.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsPage</name>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Compare %n run(s)</source>
        <translation>
            <numerusform>Compare %n run</numerusform>
            <numerusform>Compare %n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::TryPage</name>
    <message numerus="yes">
        <source>%1 writes: %n token(s)</source>
        <extracomment>%1 is &quot;The base model&quot; or &quot;The trained model&quot;</extracomment>
        <translation>
            <numerusform>%1 writes: %n token</numerusform>
            <numerusform>%1 writes: %n tokens</numerusform>
        </translation>
    </message>
</context>
</TS>
