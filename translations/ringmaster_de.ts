<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de">
<context>
    <name>Agree</name>
    <message>
        <source>%1: %2, as before</source>
        <extracomment>%1 is a name such as &quot;Ranks&quot;, %2 and %3 are numbers</extracomment>
        <translation>%1: %2, wie zuvor</translation>
    </message>
    <message>
        <source>%1: %2 instead of %3</source>
        <translation>%1: %2 statt %3</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Ranks</translation>
    </message>
    <message>
        <source>Ranks for each sequence</source>
        <translation>Ranks je Sequenz</translation>
    </message>
    <message>
        <source>Rows a step</source>
        <translation>Zeilen je Schritt</translation>
    </message>
    <message>
        <source>Gradient accumulation</source>
        <translation>Gradientenakkumulation</translation>
    </message>
    <message>
        <source>The losses stay the same as before.</source>
        <translation>Der Loss verläuft so weiter wie im bisherigen Lauf.</translation>
    </message>
    <message>
        <source>The losses are no longer the same as before.</source>
        <translation>Der Loss verläuft nicht mehr so wie im bisherigen Lauf.</translation>
    </message>
    <message>
        <source>Go on with fewer nodes?</source>
        <translation>Mit weniger Knoten weitermachen?</translation>
    </message>
    <message>
        <source>Not there any more:
%1

With the remaining nodes the run would continue as follows:</source>
        <extracomment>%1 is a list of nodes, each with the reason why it is gone</extracomment>
        <translation>Nicht mehr erreichbar:
%1

Auf den übrigen Knoten ginge der Lauf so weiter:</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weitermachen</translation>
    </message>
    <message>
        <source>Leave it</source>
        <translation>So lassen</translation>
    </message>
</context>
<context>
    <name>Alerts</name>
    <message>
        <source>The loss is not a number at step %1</source>
        <translation>Der Loss ist in Schritt %1 keine Zahl</translation>
    </message>
    <message>
        <source>The loss jumped to %1 at step %2; usually it is %3</source>
        <extracomment>%1 is the loss, %2 the step, %3 the loss before</extracomment>
        <translation>Der Loss sprang in Schritt %2 auf %1; sonst liegt er bei %3</translation>
    </message>
    <message>
        <source>Nothing was heard for %1 after step %2; rank %3 is behind</source>
        <translation>Nach Schritt %2 war %1 lang nichts zu hören; Rank %3 liegt zurück</translation>
    </message>
    <message>
        <source>Nothing was heard for %1 after step %2</source>
        <translation>Nach Schritt %2 war %1 lang nichts zu hören</translation>
    </message>
    <message>
        <source>The loss has not fallen for %1 steps: %2 at step %3</source>
        <translation>Der Loss ist seit %1 Schritten nicht gefallen: %2 in Schritt %3</translation>
    </message>
    <message>
        <source>Rank %1 is slow at step %2: the others wait %3 of a step for it</source>
        <translation>Rank %1 ist in Schritt %2 langsam: Die übrigen warten %3 eines Schritts auf ihn</translation>
    </message>
    <message>
        <source>The loss is not a number</source>
        <translation>Der Loss ist keine Zahl</translation>
    </message>
    <message>
        <source>The loss jumps</source>
        <translation>Der Loss springt</translation>
    </message>
    <message>
        <source>The run stalls</source>
        <translation>Der Lauf stockt</translation>
    </message>
    <message>
        <source>The loss no longer falls</source>
        <translation>Der Loss fällt nicht mehr</translation>
    </message>
    <message>
        <source>A rank is slow</source>
        <translation>Ein Rank ist langsam</translation>
    </message>
    <message>
        <source>The run ended after step %1, before it was complete</source>
        <translation>Der Lauf endete nach Schritt %1, bevor er fertig war</translation>
    </message>
    <message>
        <source>The run is complete: step %1 was its last</source>
        <translation>Der Lauf ist fertig: Schritt %1 war sein letzter</translation>
    </message>
    <message>
        <source>The run ends before it is complete</source>
        <translation>Der Lauf endet, bevor er fertig ist</translation>
    </message>
    <message>
        <source>The run is complete</source>
        <translation>Der Lauf ist fertig</translation>
    </message>
</context>
<context>
    <name>AppWays</name>
    <message>
        <source>The run directory has to be on a file system that the nodes share.</source>
        <translation>Das Laufverzeichnis muss auf einem Dateisystem liegen, das die Knoten teilen.</translation>
    </message>
    <message>
        <source>Press “Set up” on the Start page.</source>
        <translation>Drücken Sie auf der Seite Start „Einrichten“.</translation>
    </message>
    <message>
        <source>Press Resume in Monitor.</source>
        <translation>Drücken Sie in Monitor „Fortsetzen“.</translation>
    </message>
    <message>
        <source>On the Nodes page, Install LibTorch has that machine&apos;s pip bring it (a download of 2.8 GB), and Send LibTorch copies the part that is needed from here.</source>
        <translation>Auf der Seite Knoten lässt „LibTorch installieren“ es das pip jenes Rechners holen (2,8 GB), und „LibTorch senden“ kopiert den nötigen Teil von hier.</translation>
    </message>
    <message>
        <source>Does that machine reach PyPI? On the Nodes page, Send LibTorch brings it from here.</source>
        <translation>Erreicht jener Rechner PyPI? Auf der Seite Knoten bringt „LibTorch senden“ es von hier.</translation>
    </message>
    <message>
        <source>On the Nodes page, Send LibTorch brings it from here.</source>
        <translation>Auf der Seite Knoten bringt „LibTorch senden“ es von hier.</translation>
    </message>
    <message>
        <source>Compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there; then press Check on the Nodes page, and trust it.</source>
        <translation>Vergleichen Sie ihn mit dem, was `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` dort ausgibt; drücken Sie dann auf der Seite Knoten „Prüfen“, und vertrauen Sie ihm.</translation>
    </message>
    <message>
        <source>Launch it with more memory (mem=… under More), a shorter sequence_len, or more ranks.</source>
        <translation>Starten Sie mit mehr Arbeitsspeicher (mem=… unter „Weitere Optionen“), mit kürzerer sequence_len oder mit mehr Ranks.</translation>
    </message>
    <message>
        <source>Leave it out with CUDA_VISIBLE_DEVICES, choose CPU as Device on the Plan page, or use a machine with a newer GPU.</source>
        <translation>Schließen Sie die GPU mit CUDA_VISIBLE_DEVICES aus, wählen Sie auf der Seite Plan als Gerät CPU, oder nehmen Sie einen Rechner mit neuerer GPU.</translation>
    </message>
    <message>
        <source>Install NVIDIA driver %2 or newer there, or choose CPU as Device on the Plan page.</source>
        <translation>Installieren Sie dort den NVIDIA-Treiber %2 oder neuer, oder wählen Sie auf der Seite Plan als Gerät CPU.</translation>
    </message>
</context>
<context>
    <name>AttentionKernels</name>
    <message>
        <source>Ringmaster&apos;s block kernel</source>
        <translation>Ringmasters Block-Kernel</translation>
    </message>
    <message>
        <source>LibTorch&apos;s memory-efficient kernel</source>
        <translation>LibTorchs speichersparender Kernel</translation>
    </message>
    <message>
        <source>FlashAttention-2, dense</source>
        <translation>FlashAttention-2, dicht</translation>
    </message>
    <message>
        <source>FlashAttention-2, varlen</source>
        <translation>FlashAttention-2, variable Längen</translation>
    </message>
    <message>
        <source>FlashAttention-2, backward in a fixed order</source>
        <translation>FlashAttention-2, rückwärts in fester Reihenfolge</translation>
    </message>
    <message>
        <source>cuDNN or FlashAttention-2, dense</source>
        <translation>cuDNN oder FlashAttention-2, dicht</translation>
    </message>
    <message>
        <source>all of the attention</source>
        <translation>die ganze Attention</translation>
    </message>
    <message>
        <source>rows that are one document without padding</source>
        <translation>Zeilen aus einem Dokument ohne Padding</translation>
    </message>
    <message>
        <source>rows of several documents or with padding</source>
        <translation>Zeilen aus mehreren Dokumenten oder mit Padding</translation>
    </message>
    <message>
        <source>rows of several documents or with padding, and hops that see several stretches of keys</source>
        <translation>Zeilen aus mehreren Dokumenten oder mit Padding, und Schritte des Rings, die mehrere Abschnitte von Keys sehen</translation>
    </message>
    <message>
        <source>layers with heads wider than 256</source>
        <translation>Schichten mit Köpfen, die breiter als 256 sind</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>float32: FlashAttention-2 and cuDNN take 16 bits alone</source>
        <translation>float32: FlashAttention-2 und cuDNN nehmen nur 16 Bit</translation>
    </message>
    <message>
        <source>cuDNN is left out: rows hold several documents</source>
        <translation>ohne cuDNN: Zeilen enthalten mehrere Dokumente</translation>
    </message>
    <message>
        <source>cuDNN is left out: the model attends in a sliding window</source>
        <translation>ohne cuDNN: das Modell hat ein gleitendes Fenster</translation>
    </message>
    <message>
        <source>cuDNN is left out: it takes head dimensions up to 128 that are multiples of 8</source>
        <translation>ohne cuDNN: es nimmt Kopfgrößen bis 128, die Vielfache von 8 sind</translation>
    </message>
    <message>
        <source>LibTorch&apos;s operations, in blocks of scores</source>
        <translation>LibTorchs Operationen, in Score-Blöcken</translation>
    </message>
    <message>
        <source>the ranks compute on the CPU</source>
        <translation>die Ranks rechnen auf der CPU</translation>
    </message>
    <message>
        <source>bfloat16 by the processor&apos;s own products if it has them</source>
        <translation>bfloat16 mit den Produkten des Prozessors, wenn er sie hat</translation>
    </message>
    <message>
        <source>the faster of the two, by a measurement at the start</source>
        <translation>der schnellere von beiden, nach einer Messung zu Beginn</translation>
    </message>
    <message>
        <source>on the run&apos;s own shapes; both compute the same</source>
        <translation>mit den Formen des Laufs; beide rechnen dasselbe</translation>
    </message>
    <message>
        <source>keeps documents apart</source>
        <translation>hält Dokumente getrennt</translation>
    </message>
    <message>
        <source>documents and padding are segments of one launch</source>
        <translation>Dokumente und Padding sind Segmente eines Aufrufs</translation>
    </message>
    <message>
        <source>a repeated run gives the same bits</source>
        <translation>ein wiederholter Lauf ergibt dieselben Bits</translation>
    </message>
    <message>
        <source>heads and long documents get launches of their own where that fills the GPU; RINGMASTER_CUDA_DETERMINISTIC=1 asks for it</source>
        <translation>Köpfe und lange Dokumente bekommen eigene Aufrufe, wo das die GPU füllt; RINGMASTER_CUDA_DETERMINISTIC=1 verlangt es so</translation>
    </message>
    <message>
        <source>FlashAttention-2 takes heads up to 256 wide</source>
        <translation>FlashAttention-2 nimmt Köpfe bis 256</translation>
    </message>
    <message>
        <source>the model caps its attention scores</source>
        <translation>das Modell begrenzt seine Attention-Scores</translation>
    </message>
    <message>
        <source>FlashAttention-2, cuDNN and the memory-efficient kernel are faster, but cannot do that</source>
        <translation>FlashAttention-2, cuDNN und der speichersparende Kernel sind schneller, können das aber nicht</translation>
    </message>
</context>
<context>
    <name>Charts</name>
    <message>
        <source>steady</source>
        <translation>gleichbleibend</translation>
    </message>
    <message>
        <source>rising</source>
        <translation>steigend</translation>
    </message>
    <message>
        <source>falling</source>
        <translation>fallend</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <extracomment>describes a line of a chart to a screen reader: its name, last figure and trend (&quot;falling&quot;)</extracomment>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>%1: %2, %3</source>
        <translation>%1: %2, %3</translation>
    </message>
    <message>
        <source>No data yet.</source>
        <translation>Noch keine Daten.</translation>
    </message>
    <message numerus="yes">
        <source>And %n more.</source>
        <translation>
            <numerusform>Und %n weitere.</numerusform>
            <numerusform>Und %n weitere.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompareCurves</name>
    <message>
        <source>time in steps</source>
        <translation>Zeit in Schritten</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
</context>
<context>
    <name>Failures</name>
    <message>
        <source>line %1: </source>
        <translation>Zeile %1: </translation>
    </message>
</context>
<context>
    <name>Figures</name>
    <message>
        <source>%1: %2</source>
        <extracomment>%1 is a name, such as a machine&apos;s, %2 is what is said of it</extracomment>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>ms</source>
        <extracomment>unit: milliseconds</extracomment>
        <translation>ms</translation>
    </message>
    <message>
        <source>s</source>
        <extracomment>unit: seconds</extracomment>
        <translation>s</translation>
    </message>
    <message>
        <source>min</source>
        <extracomment>unit: minutes</extracomment>
        <translation>min</translation>
    </message>
    <message>
        <source>h</source>
        <extracomment>unit: hours</extracomment>
        <translation>h</translation>
    </message>
    <message>
        <source>d</source>
        <extracomment>unit: days</extracomment>
        <translation>d</translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>the data were measured just now</extracomment>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>%1 ago</source>
        <extracomment>time since something happened; %1 is &quot;12 s&quot; or &quot;3 min&quot;</extracomment>
        <translation>vor %1</translation>
    </message>
    <message>
        <source>, </source>
        <extracomment>stands between the parts of a list such as &quot;2 cores, 23.5 GiB&quot;</extracomment>
        <translation>, </translation>
    </message>
    <message>
        <source>%1.</source>
        <extracomment>a sentence, with its full stop</extracomment>
        <translation>%1.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <extracomment>progress: %1 is the last step, %2 the number of steps</extracomment>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>; </source>
        <extracomment>stands between clauses that have commas of their own</extracomment>
        <translation>; </translation>
    </message>
</context>
<context>
    <name>LaunchPreview</name>
    <message>
        <source>(made by launch or prepare)</source>
        <translation>(wird beim Start oder Vorbereiten angelegt)</translation>
    </message>
    <message>
        <source>which starts, with MASTER_PORT and the port&apos;s open socket added:</source>
        <translation>Es startet, ergänzt um MASTER_PORT und den offenen Socket des Ports:</translation>
    </message>
    <message>
        <source>the same, without an agent:</source>
        <translation>dasselbe ohne Agenten:</translation>
    </message>
    <message>
        <source>(mirrors that of the nodes)</source>
        <translation>(Abbild des Verzeichnisses auf den Knoten)</translation>
    </message>
    <message>
        <source>run directory:</source>
        <translation>Verzeichnis des Laufs:</translation>
    </message>
    <message>
        <source>whose ranks tell NCCL:</source>
        <translation>seine Ranks sagen NCCL:</translation>
    </message>
    <message>
        <source>restarts after a failure: up to %1, by the program that launched the run, as long as it follows it; nodes that are lost are left out</source>
        <translation>Neustarts nach einem Fehlschlag: bis zu %1, durch das Programm, das den Lauf gestartet hat, solange es ihm folgt; verlorene Knoten werden ausgelassen</translation>
    </message>
    <message>
        <source>restarts after a failure: up to %1, by the program that launched the run, as long as it follows it</source>
        <translation>Neustarts nach einem Fehlschlag: bis zu %1, durch das Programm, das den Lauf gestartet hat, solange es ihm folgt</translation>
    </message>
</context>
<context>
    <name>LaunchRemarks</name>
    <message numerus="yes">
        <source>The plan is for %n GPU(s); this machine has none.</source>
        <translation>
            <numerusform>Der Plan ist für %n GPU, dieser Rechner hat keine.</numerusform>
            <numerusform>Der Plan ist für %n GPUs, dieser Rechner hat keine.</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose machines over SSH or Slurm, or set Ranks and Device on the Plan page.</source>
        <translation>Wählen Sie Rechner über SSH oder Slurm, oder stellen Sie Ranks und Gerät auf der Seite Plan ein.</translation>
    </message>
    <message>
        <source>The plan does not fit into the memory of its devices.</source>
        <translation>Der Plan passt nicht in den Speicher seiner Geräte.</translation>
    </message>
    <message>
        <source>%1 holds a model, which this run replaces when it is done.</source>
        <translation>%1 enthält ein Modell, das dieser Lauf am Ende ersetzt.</translation>
    </message>
    <message>
        <source>The name is taken: the run is called %1.</source>
        <translation>Der Name ist vergeben: Der Lauf heißt %1.</translation>
    </message>
    <message numerus="yes">
        <source>The plan is for %n GPU(s); this machine has %1.</source>
        <translation>
            <numerusform>Der Plan ist für %n GPU, dieser Rechner hat %1.</numerusform>
            <numerusform>Der Plan ist für %n GPUs, dieser Rechner hat %1.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LaunchSteps</name>
    <message>
        <source>Connect to the login node</source>
        <translation>Mit dem Login-Knoten verbinden</translation>
    </message>
    <message>
        <source>Connect to the nodes</source>
        <translation>Mit den Knoten verbinden</translation>
    </message>
    <message>
        <source>Check the plan</source>
        <translation>Plan prüfen</translation>
    </message>
    <message>
        <source>Prepare model and data</source>
        <translation>Modell und Daten vorbereiten</translation>
    </message>
    <message>
        <source>Send it to the cluster</source>
        <translation>An den Cluster senden</translation>
    </message>
    <message>
        <source>Send it to the nodes</source>
        <translation>An die Knoten senden</translation>
    </message>
    <message>
        <source>Submit the job</source>
        <translation>Job einreichen</translation>
    </message>
    <message>
        <source>Start the ranks</source>
        <translation>Ranks starten</translation>
    </message>
    <message>
        <source>Wait in the queue</source>
        <translation>In der Warteschlange warten</translation>
    </message>
    <message>
        <source>Ranks meet</source>
        <translation>Ranks finden einander</translation>
    </message>
    <message>
        <source>First step</source>
        <translation>Erster Schritt</translation>
    </message>
    <message>
        <source>It did not start.</source>
        <translation>Der Start ist gescheitert.</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Add to the queue</source>
        <translation>In die Warteschlange</translation>
    </message>
    <message>
        <source>It was not queued.</source>
        <translation>Nicht eingereiht.</translation>
    </message>
    <message>
        <source>Check the checkpoint</source>
        <translation>Checkpoint prüfen</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>Install PyTorch and the Hugging Face libraries (some GB)</source>
        <translation>PyTorch und die Hugging-Face-Bibliotheken installieren (einige GB)</translation>
    </message>
    <message>
        <source>The example</source>
        <translation>Beispiel</translation>
    </message>
    <message>
        <source>Make the example</source>
        <translation>Beispiel anlegen</translation>
    </message>
    <message>
        <source>Measure this machine</source>
        <translation>Diesen Rechner messen</translation>
    </message>
    <message>
        <source>It was not measured.</source>
        <translation>Nicht gemessen.</translation>
    </message>
    <message>
        <source>Measure matrix products, attention, memory and links</source>
        <translation>Matrixprodukte, Attention, Speicher und Verbindungen messen</translation>
    </message>
</context>
<context>
    <name>Log</name>
    <message>
        <source>attempt %1 on %2, %3, Ringmaster %4, LibTorch %5</source>
        <translation>Versuch %1 auf %2, %3, Ringmaster %4, LibTorch %5</translation>
    </message>
    <message>
        <source>phase: %1</source>
        <translation>Phase: %1</translation>
    </message>
    <message>
        <source>evaluation after step %1: loss %2</source>
        <translation>Auswertung nach Schritt %1: Loss %2</translation>
    </message>
    <message>
        <source>checkpoint of step %1 saved in %2</source>
        <translation>Checkpoint von Schritt %1 in %2 gespeichert</translation>
    </message>
    <message>
        <source>completed after step %1</source>
        <translation>abgeschlossen nach Schritt %1</translation>
    </message>
    <message>
        <source>stopped after step %1</source>
        <translation>gestoppt nach Schritt %1</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) written after step %1</source>
        <translation>
            <numerusform>%n Beispiel nach Schritt %1 geschrieben</numerusform>
            <numerusform>%n Beispiele nach Schritt %1 geschrieben</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MachineWords</name>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n Kern</numerusform>
            <numerusform>%n Kerne</numerusform>
        </translation>
    </message>
    <message>
        <source>%1; the NVIDIA driver shows no GPU</source>
        <translation>%1; der NVIDIA-Treiber zeigt keine GPU</translation>
    </message>
    <message>
        <source>Look at CUDA_VISIBLE_DEVICES and nvidia-smi.</source>
        <translation>Prüfen Sie CUDA_VISIBLE_DEVICES und nvidia-smi.</translation>
    </message>
    <message>
        <source>%1, no NVIDIA GPU</source>
        <translation>%1, keine NVIDIA-GPU</translation>
    </message>
    <message>
        <source>Plans for any number of GPUs, trains on the processor.</source>
        <translation>Plant für beliebig viele GPUs, trainiert auf dem Prozessor.</translation>
    </message>
    <message>
        <source>%1; driver %2</source>
        <translation>%1; Treiber %2</translation>
    </message>
    <message>
        <source>The free space cannot be read.</source>
        <translation>Der freie Platz lässt sich nicht ermitteln.</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 frei</translation>
    </message>
    <message>
        <source>Little room: a run could fill the disk.</source>
        <translation>Wenig Platz: Ein Lauf könnte die Platte füllen.</translation>
    </message>
    <message numerus="yes">
        <source>%n host(s) in ~/.ssh/config</source>
        <translation>
            <numerusform>%n Host in ~/.ssh/config</numerusform>
            <numerusform>%n Hosts in ~/.ssh/config</numerusform>
        </translation>
    </message>
    <message>
        <source>SSH</source>
        <translation>SSH</translation>
    </message>
    <message>
        <source>agent answers; %1</source>
        <translation>Agent antwortet; %1</translation>
    </message>
    <message>
        <source>agent does not answer; %1</source>
        <translation>Agent antwortet nicht; %1</translation>
    </message>
    <message>
        <source>Start it again: %1</source>
        <translation>Neu starten: %1</translation>
    </message>
    <message>
        <source>no agent; %1</source>
        <translation>kein Agent; %1</translation>
    </message>
    <message>
        <source>Needed for other machines only: %1</source>
        <translation>Nur für andere Rechner nötig: %1</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>Engine</translation>
    </message>
    <message>
        <source>installed</source>
        <translation>installiert</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>Install or build Ringmaster whole.</source>
        <translation>Installieren oder bauen Sie Ringmaster vollständig.</translation>
    </message>
    <message>
        <source>CUDA</source>
        <translation>CUDA</translation>
    </message>
    <message>
        <source>the engine&apos;s CUDA part is there</source>
        <translation>der CUDA-Teil der Engine ist vorhanden</translation>
    </message>
    <message>
        <source>not in this build: GPUs stay unused</source>
        <translation>nicht in diesem Build: GPUs bleiben ungenutzt</translation>
    </message>
    <message>
        <source>Build it again without RINGMASTER_CUDA=off.</source>
        <translation>Bauen Sie Ringmaster ohne RINGMASTER_CUDA=off neu.</translation>
    </message>
    <message>
        <source>LibTorch</source>
        <translation>LibTorch</translation>
    </message>
    <message>
        <source>%1, set up</source>
        <translation>%1, eingerichtet</translation>
    </message>
    <message>
        <source>%1 is not set up yet</source>
        <translation>%1 ist noch nicht eingerichtet</translation>
    </message>
    <message>
        <source>Planning works without it; training needs it (about 3 GB to load).</source>
        <translation>Zum Planen nicht nötig, wohl aber zum Trainieren (etwa 3 GB Download).</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>%1 of %2 available</source>
        <translation>%1 von %2 verfügbar</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>Cache</translation>
    </message>
</context>
<context>
    <name>Monitor</name>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>global</source>
        <translation>global</translation>
    </message>
    <message>
        <source>evaluation</source>
        <translation>Auswertung</translation>
    </message>
    <message>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>Rechnen</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>nicht verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>other</source>
        <translation>Sonstiges</translation>
    </message>
    <message>
        <source>expected</source>
        <translation>erwartet</translation>
    </message>
    <message>
        <source>capacity</source>
        <translation>Kapazität</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>Schrittzeit</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>Nicht verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Ranks over time</source>
        <translation>Ranks im Zeitverlauf</translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation>Durchsatz</translation>
    </message>
    <message>
        <source>Overlap</source>
        <translation>Überlappung</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>Gradientennorm</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>global, and each rank&apos;s own</source>
        <translation>global und je Rank</translation>
    </message>
    <message>
        <source>of rank %1</source>
        <translation>von Rank %1</translation>
    </message>
    <message>
        <source>median of the ranks</source>
        <translation>Median der Ranks</translation>
    </message>
    <message>
        <source>waiting share of a step</source>
        <translation>Anteil je Rank</translation>
    </message>
    <message>
        <source>tensors at the peak, of %1</source>
        <translation>Spitze der Tensoren, von %1</translation>
    </message>
    <message>
        <source>tensors at the peak</source>
        <translation>Tensoren an der Spitze</translation>
    </message>
    <message>
        <source>own work against the median</source>
        <translation>Arbeit ÷ Median</translation>
    </message>
    <message>
        <source>tokens per second, all ranks</source>
        <translation>Tokens je Sekunde, alle Ranks</translation>
    </message>
    <message>
        <source>hidden share of communication</source>
        <translation>verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>before clipping</source>
        <translation>vor dem Clipping</translation>
    </message>
    <message>
        <source>tokens per second</source>
        <translation>Tokens je Sekunde</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>Gradientennorm</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>reward</source>
        <translation>Belohnung</translation>
    </message>
    <message>
        <source>chosen</source>
        <translation>gewählt</translation>
    </message>
    <message>
        <source>rejected</source>
        <translation>abgelehnt</translation>
    </message>
    <message>
        <source>margin</source>
        <translation>Abstand</translation>
    </message>
    <message>
        <source>chosen above rejected</source>
        <translation>gewählt über abgelehnt</translation>
    </message>
    <message>
        <source>clipped</source>
        <translation>geclippt</translation>
    </message>
    <message>
        <source>cut at the longest length</source>
        <translation>bei Maximallänge abgeschnitten</translation>
    </message>
    <message>
        <source>in a group of equal rewards</source>
        <translation>in einer Gruppe gleicher Belohnungen</translation>
    </message>
    <message>
        <source>mean length</source>
        <translation>mittlere Länge</translation>
    </message>
    <message>
        <source>divergence</source>
        <translation>Divergenz</translation>
    </message>
    <message>
        <source>NLL of the chosen</source>
        <translation>NLL der gewählten</translation>
    </message>
    <message>
        <source>router loss</source>
        <translation>Loss des Routers</translation>
    </message>
    <message>
        <source>Rewards</source>
        <translation>Belohnungen</translation>
    </message>
    <message>
        <source>Shares of the completions</source>
        <translation>Anteile der Antworten</translation>
    </message>
    <message>
        <source>Completion length</source>
        <translation>Länge der Antworten</translation>
    </message>
    <message>
        <source>Divergence from the reference</source>
        <translation>KL-Divergenz zur Referenz</translation>
    </message>
    <message>
        <source>Parts of the loss</source>
        <translation>Teile des Loss</translation>
    </message>
    <message>
        <source>means over a step</source>
        <translation>Mittel über einen Schritt</translation>
    </message>
    <message>
        <source>tokens of a sampled completion</source>
        <translation>Tokens einer erzeugten Antwort</translation>
    </message>
    <message>
        <source>checkpoint of step %1</source>
        <translation>Checkpoint von Schritt %1</translation>
    </message>
    <message>
        <source>checkpoint</source>
        <extracomment>a legend&apos;s name of the moments at which a checkpoint was saved</extracomment>
        <translation>Checkpoint</translation>
    </message>
    <message>
        <source>attempt %1, from step %2</source>
        <translation>Versuch %1, ab Schritt %2</translation>
    </message>
    <message>
        <source>attempt %1, from step %2, on %3 ranks in place of %4</source>
        <translation>Versuch %1, ab Schritt %2, auf %3 statt %4 Ranks</translation>
    </message>
    <message>
        <source>gap</source>
        <translation>Abstand</translation>
    </message>
    <message>
        <source>Gap to the sampling server</source>
        <translation>Abstand zum Sampling-Server</translation>
    </message>
    <message>
        <source>mean, in log-probability</source>
        <translation>mittlerer Log-Abstand</translation>
    </message>
    <message numerus="yes">
        <source>median and range of %n ranks</source>
        <extracomment>name in a legend: median of %n ranks as a line, with the area between the least and the greatest</extracomment>
        <translation>
            <numerusform>Median und Spanne von %n Rank</numerusform>
            <numerusform>Median und Spanne von %n Ranks</numerusform>
        </translation>
    </message>
    <message>
        <source>alert</source>
        <extracomment>a legend&apos;s name of the moments at which an alert was raised</extracomment>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>new attempt</source>
        <extracomment>a legend&apos;s name of the moments at which a run was resumed</extracomment>
        <translation>neuer Versuch</translation>
    </message>
</context>
<context>
    <name>NodeFindings</name>
    <message>
        <source>the host name %1 is not known here: %2</source>
        <translation>der Rechnername %1 ist hier nicht bekannt: %2</translation>
    </message>
    <message>
        <source>check the spelling, or add a Host entry with its HostName to ~/.ssh/config</source>
        <translation>Prüfen Sie die Schreibweise, oder ergänzen Sie in ~/.ssh/config einen Host-Eintrag mit seinem HostName</translation>
    </message>
    <message>
        <source>connection refused by %1 port %2</source>
        <translation>%1 hat die Verbindung auf Port %2 abgelehnt</translation>
    </message>
    <message>
        <source>is sshd running there, on port %2?</source>
        <translation>Läuft dort sshd auf Port %2?</translation>
    </message>
    <message>
        <source>no answer from %1 port %2 in %3 s</source>
        <translation>keine Antwort von %1, Port %2, in %3 s</translation>
    </message>
    <message>
        <source>is the machine on, and does a firewall let port %2 through? A VPN may be needed</source>
        <translation>Ist der Rechner an, und lässt eine Firewall Port %2 durch? Vielleicht wird ein VPN gebraucht</translation>
    </message>
    <message>
        <source>cannot reach %1 port %2: %3</source>
        <translation>%1, Port %2, ist nicht zu erreichen: %3</translation>
    </message>
    <message>
        <source>no route leads there from this machine: is the network or the VPN up?</source>
        <translation>Von diesem Rechner führt kein Weg dorthin: Ist das Netz oder das VPN da?</translation>
    </message>
    <message>
        <source>no connection with %1 port %2: %3</source>
        <translation>keine Verbindung mit %1, Port %2: %3</translation>
    </message>
    <message>
        <source>`ssh -v %4` may say more</source>
        <translation>`ssh -v %4` sagt vielleicht mehr</translation>
    </message>
    <message>
        <source>given up before %1 port %2 had answered</source>
        <translation>aufgegeben, bevor %1, Port %2, geantwortet hat</translation>
    </message>
    <message>
        <source>check it again</source>
        <translation>noch einmal prüfen</translation>
    </message>
    <message>
        <source>%1 port %2 answered, but not as SSH should: %3</source>
        <translation>%1, Port %2, antwortet, aber nicht so, wie SSH es sollte: %3</translation>
    </message>
    <message>
        <source>`ssh -v %4` shows the same exchange</source>
        <translation>`ssh -v %4` zeigt denselben Austausch</translation>
    </message>
    <message>
        <source>the jump host %1 does not connect to %2 port %3: %4</source>
        <translation>der Zwischenrechner %1 verbindet nicht mit %2, Port %3: %4</translation>
    </message>
    <message>
        <source>is the machine on, and does the jump host&apos;s sshd allow forwarding (AllowTcpForwarding)?</source>
        <translation>Ist der Rechner an, und erlaubt der sshd des Zwischenrechners das Weiterleiten (AllowTcpForwarding)?</translation>
    </message>
    <message>
        <source>the connection is lost: %1</source>
        <translation>die Verbindung ist verloren: %1</translation>
    </message>
    <message>
        <source>shows no host key: %1</source>
        <translation>zeigt keinen Hostschlüssel: %1</translation>
    </message>
    <message>
        <source>its host key is not known: %1 %2</source>
        <translation>sein Hostschlüssel ist nicht bekannt: %1 %2</translation>
    </message>
    <message>
        <source>compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there; then trust it (--trust-on-first-use): that adds it to %4</source>
        <translation>Vergleichen Sie ihn mit dem, was `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` dort ausgibt; dann vertrauen Sie ihm (--trust-on-first-use): Er kommt dann in %4</translation>
    </message>
    <message>
        <source>its host key has CHANGED: now it is %1 %2. Somebody may stand between, or the machine was set up anew; nothing was sent to it</source>
        <translation>sein Hostschlüssel hat sich GEÄNDERT: Jetzt ist er %1 %2. Jemand könnte dazwischenstehen, oder der Rechner wurde neu eingerichtet; nichts wurde ihm gesendet</translation>
    </message>
    <message>
        <source>ask whoever runs the machine. If the new key is right: ssh-keygen -f %3 -R &apos;%4&apos;</source>
        <translation>Fragen Sie, wer den Rechner betreibt. Ist der neue Schlüssel richtig: ssh-keygen -f %3 -R &apos;%4&apos;</translation>
    </message>
    <message>
        <source>is known by a host key of another type than it shows now (%1 %2). Somebody may stand between; nothing was sent to it</source>
        <translation>ist mit einem Hostschlüssel anderer Art bekannt, als er jetzt zeigt (%1 %2). Jemand könnte dazwischenstehen; nichts wurde ihm gesendet</translation>
    </message>
    <message>
        <source>its host key is not known: %1 %2. StrictHostKeyChecking yes lets none be added</source>
        <translation>sein Hostschlüssel ist nicht bekannt: %1 %2. StrictHostKeyChecking yes lässt keinen hinzukommen</translation>
    </message>
    <message>
        <source>compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there, and add it to %4 yourself</source>
        <translation>Vergleichen Sie ihn mit dem, was `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` dort ausgibt, und tragen Sie ihn selbst in %4 ein</translation>
    </message>
    <message>
        <source>its host key is not known: %1 %2. UserKnownHostsFile none leaves no file to add it to</source>
        <translation>sein Hostschlüssel ist nicht bekannt: %1 %2. UserKnownHostsFile none lässt keine Datei, in die er eingetragen werden könnte</translation>
    </message>
    <message>
        <source>name a file in UserKnownHostsFile, or add the key to one of GlobalKnownHostsFile</source>
        <translation>Geben Sie in UserKnownHostsFile eine Datei an, oder tragen Sie den Schlüssel in eine von GlobalKnownHostsFile ein</translation>
    </message>
    <message>
        <source>its host key %1 %2 is REVOKED by %3. Somebody may have stolen it; nothing was sent to the machine</source>
        <translation>sein Hostschlüssel %1 %2 ist durch %3 WIDERRUFEN. Jemand könnte ihn gestohlen haben; nichts wurde dem Rechner gesendet</translation>
    </message>
    <message>
        <source>ask whoever runs the machine for its new host key</source>
        <translation>Fragen Sie den Betreiber des Rechners nach dessen neuem Hostschlüssel</translation>
    </message>
    <message>
        <source>its address is known by another host key than %1 %2 (CheckHostIP, %3). Somebody may stand between; nothing was sent to it</source>
        <translation>seine Adresse ist mit einem anderen Hostschlüssel bekannt als %1 %2 (CheckHostIP, %3). Jemand könnte dazwischenstehen; nichts wurde ihm gesendet</translation>
    </message>
    <message>
        <source>ask whoever runs the machine which key is right, and remove the wrong line</source>
        <translation>Fragen Sie den Betreiber des Rechners, welcher Schlüssel der richtige ist, und entfernen Sie die falsche Zeile</translation>
    </message>
    <message>
        <source>its host key %1 %2 has %3 bits, fewer than RequiredRSASize asks for</source>
        <translation>sein Hostschlüssel %1 %2 hat %3 Bit, weniger als RequiredRSASize verlangt</translation>
    </message>
    <message>
        <source>ask whoever runs the machine for a longer key, or for one of ed25519</source>
        <translation>wer den Rechner betreibt, um einen längeren Schlüssel oder einen von ed25519 bitten</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not checked: KnownHostsCommand (%3) is not run here</source>
        <translation>sein Hostschlüssel %1 %2 wird nicht geprüft: KnownHostsCommand (%3) wird hier nicht ausgeführt</translation>
    </message>
    <message>
        <source>write what the command prints to a file, and name that in UserKnownHostsFile instead</source>
        <translation>Schreiben Sie die Ausgabe des Befehls in eine Datei, und geben Sie stattdessen diese in UserKnownHostsFile an</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not accepted: %3 revokes a key that cannot be read</source>
        <translation>sein Hostschlüssel %1 %2 wird nicht angenommen: %3 widerruft einen Schlüssel, der nicht zu lesen ist</translation>
    </message>
    <message>
        <source>mend that line, or remove it</source>
        <translation>Berichtigen oder entfernen Sie diese Zeile</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not accepted: RevokedHostKeys names %3, a binary list (KRL), which is not read here</source>
        <translation>sein Hostschlüssel %1 %2 wird nicht angenommen: RevokedHostKeys nennt %3, eine binäre Liste (KRL), die hier nicht gelesen wird</translation>
    </message>
    <message>
        <source>name a text file in RevokedHostKeys instead, one public key a line</source>
        <translation>Geben Sie in RevokedHostKeys stattdessen eine Textdatei an, ein öffentlicher Schlüssel je Zeile</translation>
    </message>
    <message>
        <source>its host key %1 %2 is not accepted: it has a host certificate, which is not read here, and %3 may revoke the authority that signed it</source>
        <translation>sein Hostschlüssel %1 %2 wird nicht angenommen: Er hat ein Host-Zertifikat, das hier nicht gelesen wird, und %3 könnte die Stelle widerrufen, die es unterzeichnet hat</translation>
    </message>
    <message>
        <source>name key types without certificates for it in ~/.ssh/config: HostKeyAlgorithms ssh-ed25519,rsa-sha2-512</source>
        <translation>Geben Sie für ihn in ~/.ssh/config Schlüsselarten ohne Zertifikate an: HostKeyAlgorithms ssh-ed25519,rsa-sha2-512</translation>
    </message>
    <message>
        <source>HostKeyAlgorithms does not tell which of its host keys to ask for (host certificates are not read here): %1</source>
        <translation>HostKeyAlgorithms sagt nicht, welcher seiner Hostschlüssel zu verlangen ist (Host-Zertifikate werden hier nicht gelesen): %1</translation>
    </message>
    <message>
        <source>name one key type for it in ~/.ssh/config, for instance HostKeyAlgorithms ssh-ed25519</source>
        <translation>Geben Sie für ihn in ~/.ssh/config eine Schlüsselart an, etwa HostKeyAlgorithms ssh-ed25519</translation>
    </message>
    <message>
        <source>. Not followed here, though ssh does: %1</source>
        <translation>. Hier nicht befolgt, anders als von ssh: %1</translation>
    </message>
    <message>
        <source>its host key cannot be checked: %1</source>
        <translation>sein Hostschlüssel kann nicht geprüft werden: %1</translation>
    </message>
    <message>
        <source>is %2 readable?</source>
        <translation>Ist %2 lesbar?</translation>
    </message>
    <message>
        <source>its host key cannot be added to %1: %2</source>
        <translation>sein Hostschlüssel kann nicht in %1 eingetragen werden: %2</translation>
    </message>
    <message>
        <source>the login as %1 was not accepted. It takes %2; tried: </source>
        <translation>die Anmeldung als %1 wurde nicht angenommen. Er nimmt %2; versucht: </translation>
    </message>
    <message>
        <source>`ssh %3` has to work without us; `ssh-copy-id` puts a key there</source>
        <translation>`ssh %3` muss ohne uns gehen; `ssh-copy-id` bringt einen Schlüssel dorthin</translation>
    </message>
    <message>
        <source>the login as %1 was not accepted. It takes %2; nothing was there to try</source>
        <translation>die Anmeldung als %1 wurde nicht angenommen. Er nimmt %2; zu versuchen gab es nichts</translation>
    </message>
    <message>
        <source>the password for the login as %1 was not accepted. It takes %2; tried: </source>
        <translation>das Passwort für die Anmeldung als %1 wurde nicht angenommen. Er nimmt %2; versucht: </translation>
    </message>
    <message>
        <source>is it the password of %1 on that machine? `ssh-copy-id %3` puts a key there, and none is asked for</source>
        <translation>Ist es das Passwort von %1 auf jenem Rechner? `ssh-copy-id %3` bringt einen Schlüssel dorthin, dann wird keines gefragt</translation>
    </message>
    <message>
        <source>its questions were not answered as it wants for the login as %1. It takes %2; tried: </source>
        <translation>seine Fragen zur Anmeldung als %1 wurden nicht so beantwortet, wie er will. Er nimmt %2; versucht: </translation>
    </message>
    <message>
        <source>a code may have run out: check it again; `ssh %3` asks the same</source>
        <translation>Ein Code kann abgelaufen sein: Prüfen Sie noch einmal; `ssh %3` fragt dasselbe</translation>
    </message>
    <message>
        <source>the login as %1 has to be answered by a person. It takes %2; tried: </source>
        <translation>die Anmeldung als %1 muss ein Mensch beantworten. Er nimmt %2; versucht: </translation>
    </message>
    <message>
        <source>run it in a terminal or use the app; or `ssh-copy-id %3` puts a key there, and nothing is asked</source>
        <translation>Rufen Sie es in einem Terminal auf, oder nehmen Sie die App; oder `ssh-copy-id %3` bringt einen Schlüssel dorthin, dann wird nichts gefragt</translation>
    </message>
    <message>
        <source>ended the login after %1 keys that it does not know (its MaxAuthTries); tried: </source>
        <translation>hat die Anmeldung nach %1 Schlüsseln beendet, die er nicht kennt (sein MaxAuthTries); versucht: </translation>
    </message>
    <message>
        <source>name the right key for this host in ~/.ssh/config: IdentityFile with IdentitiesOnly yes</source>
        <translation>Nennen Sie den richtigen Schlüssel für diesen Rechner in ~/.ssh/config: IdentityFile mit IdentitiesOnly yes</translation>
    </message>
    <message>
        <source>ended the login after too many wrong answers (its MaxAuthTries); tried: </source>
        <translation>hat die Anmeldung nach zu vielen falschen Antworten beendet (sein MaxAuthTries); versucht: </translation>
    </message>
    <message>
        <source>`ssh %1` has to work without us</source>
        <translation>`ssh %1` muss ohne uns gehen</translation>
    </message>
    <message>
        <source>ended the login: %1; tried: </source>
        <translation>hat die Anmeldung beendet: %1; versucht: </translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>1 key of the ssh-agent (not accepted)</source>
        <translation>1 Schlüssel des ssh-agent (nicht angenommen)</translation>
    </message>
    <message>
        <source>%1 keys of the ssh-agent (not accepted)</source>
        <translation>%1 Schlüssel des ssh-agent (nicht angenommen)</translation>
    </message>
    <message>
        <source>%1 (not accepted)</source>
        <translation>%1 (nicht angenommen)</translation>
    </message>
    <message>
        <source>%1 (only its public half is here)</source>
        <translation>%1 (nur die öffentliche Hälfte ist hier)</translation>
    </message>
    <message>
        <source>%1 (cannot be read as a private key)</source>
        <translation>%1 (nicht als privater Schlüssel lesbar)</translation>
    </message>
    <message>
        <source>%1 (encrypted: load it with ssh-add, or give its passphrase)</source>
        <translation>%1 (verschlüsselt: mit ssh-add laden oder die Passphrase angeben)</translation>
    </message>
    <message>
        <source>keyboard-interactive (not accepted)</source>
        <translation>keyboard-interactive (nicht angenommen)</translation>
    </message>
    <message>
        <source>keyboard-interactive (%1 times not accepted)</source>
        <translation>keyboard-interactive (%1-mal nicht angenommen)</translation>
    </message>
    <message>
        <source>keyboard-interactive (the server asks, and nobody is there to answer)</source>
        <translation>keyboard-interactive (der Server fragt, und niemand ist da, der antwortet)</translation>
    </message>
    <message>
        <source>password (not accepted)</source>
        <translation>Passwort (nicht angenommen)</translation>
    </message>
    <message>
        <source>password (%1 times not accepted)</source>
        <translation>Passwort (%1-mal nicht angenommen)</translation>
    </message>
    <message>
        <source>password (nobody is there to give it)</source>
        <translation>Passwort (niemand ist da, der es angibt)</translation>
    </message>
    <message>
        <source>no channel for a command: %1</source>
        <translation>kein Kanal für einen Befehl: %1</translation>
    </message>
    <message>
        <source>its sshd may allow too few sessions (MaxSessions)</source>
        <translation>Sein sshd erlaubt vielleicht zu wenige Sitzungen (MaxSessions)</translation>
    </message>
    <message>
        <source>does not run commands: %1</source>
        <translation>führt keine Befehle aus: %1</translation>
    </message>
    <message>
        <source>an account that may only transfer files cannot train</source>
        <translation>Ein Konto, das nur Dateien übertragen darf, kann nicht trainieren</translation>
    </message>
    <message>
        <source>the login shell ended before it ran anything%1</source>
        <translation>die Anmelde-Shell endete, bevor sie etwas ausgeführt hat%1</translation>
    </message>
    <message>
        <source>`ssh %2 true` has to succeed: look at the shell&apos;s start files there</source>
        <translation>`ssh %2 true` muss gelingen: Sehen Sie sich dort die Startdateien der Shell an</translation>
    </message>
    <message>
        <source>the login shell did not get to running anything in 30 s%1</source>
        <translation>die Anmelde-Shell kam in 30 s nicht dazu, etwas auszuführen%1</translation>
    </message>
    <message>
        <source>its start files wait for something or start another program: keep that for interactive shells</source>
        <translation>Ihre Startdateien warten auf etwas oder starten ein anderes Programm: Das gehört in interaktive Shells</translation>
    </message>
    <message>
        <source>its shell did not answer our questions%1</source>
        <translation>seine Shell hat unsere Fragen nicht beantwortet%1</translation>
    </message>
    <message>
        <source>`sh` has to be a POSIX shell there</source>
        <translation>`sh` muss dort eine POSIX-Shell sein</translation>
    </message>
    <message>
        <source>has taken nothing for %1 s</source>
        <translation>hat %1 s lang nichts angenommen</translation>
    </message>
    <message>
        <source>is a disk or network file system of the machine hanging?</source>
        <translation>Hängt eine Platte oder ein Netzdateisystem des Rechners?</translation>
    </message>
    <message>
        <source>sends more than is asked of it (over %1)</source>
        <translation>schickt mehr, als von ihm verlangt wird (über %1)</translation>
    </message>
    <message>
        <source>look at its shell&apos;s start-up files, and whether it is the machine that you mean</source>
        <translation>Sehen Sie nach den Startdateien seiner Shell und ob es der Rechner ist, den Sie meinen</translation>
    </message>
    <message>
        <source>a command there has said nothing for %1 s</source>
        <translation>ein Befehl dort hat %1 s lang nichts gesagt</translation>
    </message>
    <message>
        <source>%1 cores, %2 of %3 memory free, %4 disk free, no GPU</source>
        <translation>%1 Kerne, %2 von %3 Arbeitsspeicher frei, %4 auf der Platte frei, keine GPU</translation>
    </message>
    <message>
        <source>%5 × %6 (driver %7), %1 cores, %2 of %3 memory free, %4 disk free</source>
        <translation>%5 × %6 (Treiber %7), %1 Kerne, %2 von %3 Arbeitsspeicher frei, %4 auf der Platte frei</translation>
    </message>
    <message>
        <source>runs %1; Ringmaster&apos;s engine is for Linux</source>
        <translation>läuft mit %1; die Engine von Ringmaster ist für Linux</translation>
    </message>
    <message>
        <source>choose another node</source>
        <translation>Wählen Sie einen anderen Knoten</translation>
    </message>
    <message>
        <source>is a %1 machine; the engine here is built for %2</source>
        <translation>ist ein Rechner mit %1; die Engine hier ist für %2 gebaut</translation>
    </message>
    <message>
        <source>build Ringmaster on a %1 machine and launch from there</source>
        <translation>Bauen Sie Ringmaster auf einem Rechner mit %1, und starten Sie von dort</translation>
    </message>
    <message>
        <source>has no glibc (its libc is another); the engine needs glibc %1</source>
        <translation>hat keine glibc (seine libc ist eine andere); die Engine braucht glibc %1</translation>
    </message>
    <message>
        <source>choose a node with a glibc distribution</source>
        <translation>Wählen Sie einen Knoten mit einer glibc-Distribution</translation>
    </message>
    <message>
        <source>has glibc %1, older than the %2 that the engine is built against</source>
        <translation>hat glibc %1, älter als %2, womit die Engine gebaut ist</translation>
    </message>
    <message>
        <source>build Ringmaster on a system as old as that node&apos;s, or choose another node</source>
        <translation>Bauen Sie Ringmaster auf einem so alten System, wie es der Knoten hat, oder wählen Sie einen anderen Knoten</translation>
    </message>
    <message>
        <source>its disk is full: nothing can be written in %1</source>
        <translation>seine Platte ist voll: In %1 kann nichts geschrieben werden</translation>
    </message>
    <message>
        <source>make room there</source>
        <translation>dort Platz schaffen</translation>
    </message>
    <message>
        <source>has %2 free in %1; 1 GiB is the least</source>
        <translation>hat %2 frei in %1; 1 GiB ist das Mindeste</translation>
    </message>
    <message>
        <source>nothing can be written in %1: %2</source>
        <translation>in %1 kann nichts geschrieben werden: %2</translation>
    </message>
    <message>
        <source>set XDG_DATA_HOME there to a folder that you may write in</source>
        <translation>dort XDG_DATA_HOME auf einen Ordner setzen, in dem Sie schreiben dürfen</translation>
    </message>
    <message>
        <source>programs may not run in %1 (mounted noexec)</source>
        <translation>in %1 dürfen keine Programme laufen (mit noexec eingehängt)</translation>
    </message>
    <message>
        <source>set XDG_DATA_HOME there to a folder on a disk without noexec</source>
        <translation>Setzen Sie dort XDG_DATA_HOME auf einen Ordner einer Platte ohne noexec</translation>
    </message>
    <message>
        <source>has no sha256sum</source>
        <translation>hat kein sha256sum</translation>
    </message>
    <message>
        <source>install coreutils there</source>
        <translation>Installieren Sie dort coreutils</translation>
    </message>
    <message>
        <source>has no LibTorch %1</source>
        <translation>hat kein LibTorch %1</translation>
    </message>
    <message>
        <source>--libtorch pip installs it there with that machine&apos;s pip (a download of 2.8 GB), --libtorch copy sends the part that is needed from here</source>
        <translation>--libtorch pip installiert es dort mit dem pip jenes Rechners (2,8 GB zu laden), --libtorch copy sendet den nötigen Teil von hier</translation>
    </message>
    <message>
        <source>has no LibTorch %1, and no Python that could install it</source>
        <translation>hat kein LibTorch %1 und kein Python, das es installieren könnte</translation>
    </message>
    <message>
        <source>--libtorch copy sends the part that is needed from here</source>
        <translation>--libtorch copy sendet den nötigen Teil von hier</translation>
    </message>
    <message>
        <source>has no LibTorch %1 (there is %2)</source>
        <translation>hat kein LibTorch %1 (da ist %2)</translation>
    </message>
    <message>
        <source>its NVIDIA driver %1 is too old for CUDA %3: its GPUs cannot be used</source>
        <translation>sein NVIDIA-Treiber %1 ist zu alt für CUDA %3: seine GPUs sind nicht benutzbar</translation>
    </message>
    <message>
        <source>install NVIDIA driver %2 or newer there, or train on its processors with --device cpu</source>
        <translation>Installieren Sie dort den NVIDIA-Treiber %2 oder neuer, oder trainieren Sie mit --device cpu auf den Prozessoren</translation>
    </message>
    <message>
        <source>its GPU %1, %2, has compute capability %3, and the engine&apos;s kernels need %4 or newer</source>
        <translation>ihre GPU %1, %2, hat Compute Capability %3, und die Kernel der Engine brauchen %4 oder neuer</translation>
    </message>
    <message>
        <source>leave it out with CUDA_VISIBLE_DEVICES there, or train on its processors with --device cpu</source>
        <translation>Schließen Sie die GPU dort mit CUDA_VISIBLE_DEVICES aus, oder trainieren Sie mit --device cpu auf den Prozessoren</translation>
    </message>
    <message>
        <source>GPU %1 is in use by %2 (%3)</source>
        <translation>GPU %1 wird von %2 benutzt (%3)</translation>
    </message>
    <message>
        <source>ask them, or leave it out with CUDA_VISIBLE_DEVICES</source>
        <translation>Sprechen Sie sich ab, oder schließen Sie die GPU mit CUDA_VISIBLE_DEVICES aus</translation>
    </message>
    <message>
        <source>its clock is %1 ahead</source>
        <translation>seine Uhr geht %1 vor</translation>
    </message>
    <message>
        <source>set it (NTP): times of events will not agree</source>
        <translation>sie stellen (NTP): Die Zeiten von Ereignissen stimmen sonst nicht überein</translation>
    </message>
    <message>
        <source>its clock is %1 behind</source>
        <translation>seine Uhr geht %1 nach</translation>
    </message>
    <message>
        <source>its login shell prints text before every command (&quot;%1&quot;)</source>
        <translation>seine Anmelde-Shell gibt vor jedem Befehl Text aus („%1“)</translation>
    </message>
    <message>
        <source>harmless here, though scp and sftp fail of it: keep that for interactive shells in its start files</source>
        <translation>Hier harmlos, doch scp und sftp scheitern daran: Geben Sie den Text in den Startdateien nur in interaktiven Shells aus</translation>
    </message>
    <message>
        <source>its Slurm has no partition</source>
        <translation>sein Slurm hat keine Partition</translation>
    </message>
    <message>
        <source>`sinfo` shows the same; ask whoever runs the cluster</source>
        <translation>`sinfo` zeigt dasselbe; fragen Sie, wer den Cluster betreibt</translation>
    </message>
    <message>
        <source>none of its partitions is up</source>
        <translation>keine seiner Partitionen ist in Betrieb</translation>
    </message>
    <message>
        <source>takes jobs: %1</source>
        <translation>nimmt Jobs: %1</translation>
    </message>
    <message>
        <source>pip could not install LibTorch %1 there: %2</source>
        <translation>pip konnte LibTorch %1 dort nicht installieren: %2</translation>
    </message>
    <message>
        <source>does that machine reach PyPI? --libtorch copy sends LibTorch from here</source>
        <translation>Erreicht jener Rechner PyPI? --libtorch copy sendet LibTorch von hier</translation>
    </message>
    <message>
        <source>has %1 free in %2; LibTorch takes %3</source>
        <translation>hat %1 frei in %2; LibTorch braucht %3</translation>
    </message>
    <message>
        <source>the engine does not run there: %1</source>
        <translation>die Engine läuft dort nicht: %1</translation>
    </message>
    <message>
        <source>LibTorch is taken from %2 there: is it whole?</source>
        <translation>LibTorch wird dort aus %2 genommen: Ist es vollständig?</translation>
    </message>
    <message>
        <source>the engine fails its self-test there: %1</source>
        <translation>die Engine besteht dort ihren Selbsttest nicht: %1</translation>
    </message>
    <message>
        <source>choose another node, and say so to whoever looks after this one</source>
        <translation>Wählen Sie einen anderen Knoten, und sagen Sie es dem Betreuer dieses Knotens</translation>
    </message>
    <message>
        <source>its ranks do not reach those of %1: %2</source>
        <translation>seine Ranks erreichen die von %1 nicht: %2</translation>
    </message>
    <message>
        <source>does a firewall let all TCP ports through between %3 and %4?</source>
        <translation>Lässt eine Firewall zwischen %3 und %4 alle TCP-Ports durch?</translation>
    </message>
    <message>
        <source>more than %1 jump hosts, or one that jumps through itself</source>
        <translation>mehr als %1 Zwischenrechner oder einer, der über sich selbst führt</translation>
    </message>
    <message>
        <source>see ProxyJump in ~/.ssh/config</source>
        <translation>siehe ProxyJump in ~/.ssh/config</translation>
    </message>
    <message>
        <source>ssh does not understand its configuration: %1</source>
        <translation>ssh versteht seine Konfiguration nicht: %1</translation>
    </message>
    <message>
        <source>`ssh -G %2` shows the same</source>
        <translation>`ssh -G %2` zeigt dasselbe</translation>
    </message>
    <message>
        <source>no network interface of it leads to rank 0&apos;s node, %1 (%2)</source>
        <translation>keine seiner Netzschnittstellen führt zum Knoten von Rank 0, %1 (%2)</translation>
    </message>
    <message>
        <source>are the two on one network? Name first a node that all the others reach</source>
        <translation>Sind beide in einem Netz? Nennen Sie zuerst einen Knoten, den alle anderen erreichen</translation>
    </message>
    <message>
        <source>`ringmaster setup` installs it</source>
        <translation>`ringmaster setup` installiert es</translation>
    </message>
</context>
<context>
    <name>NodeWords</name>
    <message>
        <source>in use by %1 (%2)</source>
        <extracomment>processes on a GPU: %1 are names of people, %2 a size of memory</extracomment>
        <translation>benutzt von %1 (%2)</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n node(s) idle</source>
        <translation>
            <numerusform>%1 von %n Knoten frei</numerusform>
            <numerusform>%1 von %n Knoten frei</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <extracomment>processor cores of a node of Slurm</extracomment>
        <translation>
            <numerusform>%n Kern</numerusform>
            <numerusform>%n Kerne</numerusform>
        </translation>
    </message>
    <message>
        <source>at most %1</source>
        <extracomment>%1 is Slurm&apos;s time limit, such as 2-00:00:00</extracomment>
        <translation>höchstens %1</translation>
    </message>
    <message>
        <source>down</source>
        <extracomment>state of a partition of Slurm</extracomment>
        <translation>außer Betrieb</translation>
    </message>
    <message>
        <source>Host name</source>
        <translation>Hostname</translation>
    </message>
    <message>
        <source>System</source>
        <translation>System</translation>
    </message>
    <message>
        <source>Cores</source>
        <translation>Kerne</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>%1 of %2 free</source>
        <translation>%1 von %2 frei</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>NVIDIA driver</source>
        <translation>NVIDIA-Treiber</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message>
        <source>Files go to</source>
        <extracomment>a folder and its free space</extracomment>
        <translation>Ablageort</translation>
    </message>
    <message>
        <source>%1, %2 free</source>
        <translation>%1, %2 frei</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Clock</source>
        <translation>Uhr</translation>
    </message>
    <message>
        <source>%1 ahead</source>
        <translation>%1 voraus</translation>
    </message>
    <message>
        <source>%1 behind</source>
        <translation>%1 zurück</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>Slurm here</source>
        <extracomment>jobs are submitted with the commands of this machine</extracomment>
        <translation>Slurm hier</translation>
    </message>
    <message>
        <source>Slurm through %1</source>
        <extracomment>%1 is a login node</extracomment>
        <translation>Slurm über %1</translation>
    </message>
    <message>
        <source>checking</source>
        <extracomment>state of a node</extracomment>
        <translation>wird geprüft</translation>
    </message>
    <message>
        <source>waiting</source>
        <extracomment>state of a node: its check has not begun</extracomment>
        <translation>wartet</translation>
    </message>
    <message>
        <source>not checked</source>
        <extracomment>state of a node</extracomment>
        <translation>nicht geprüft</translation>
    </message>
    <message>
        <source>ready</source>
        <extracomment>state of a node: it can train</extracomment>
        <translation>bereit</translation>
    </message>
    <message>
        <source>ready, with a remark</source>
        <extracomment>state of a node: it can train, and there is a remark</extracomment>
        <translation>bereit, mit Hinweis</translation>
    </message>
    <message>
        <source>cannot train</source>
        <extracomment>state of a node: it was reached but cannot train</extracomment>
        <translation>kann nicht trainieren</translation>
    </message>
    <message>
        <source>not reached</source>
        <extracomment>state of a node</extracomment>
        <translation>nicht erreicht</translation>
    </message>
    <message>
        <source>Connecting, logging in, asking the machine…</source>
        <translation>Verbinden, anmelden, den Rechner fragen…</translation>
    </message>
    <message>
        <source>Eight are checked at a time.</source>
        <translation>Acht werden gleichzeitig geprüft.</translation>
    </message>
    <message>
        <source>Of ~/.ssh/config, without effect here</source>
        <translation>Aus ~/.ssh/config, hier ohne Wirkung</translation>
    </message>
    <message>
        <source>Bringing the engine there: %1 of %2</source>
        <extracomment>progress of copying the programs: %1 and %2 are sizes</extracomment>
        <translation>Die Engine wird hingebracht: %1 von %2</translation>
    </message>
    <message>
        <source>Measuring the links between the machines: %1 of %2</source>
        <translation>Die Verbindungen zwischen den Rechnern werden gemessen: %1 von %2</translation>
    </message>
    <message>
        <source>Trying it out: self-test, then the links with the others…</source>
        <translation>Wird erprobt: Selbsttest, dann die Verbindungen mit den anderen …</translation>
    </message>
    <message>
        <source>Its pip installs LibTorch…</source>
        <translation>Sein pip installiert LibTorch …</translation>
    </message>
    <message>
        <source>Its pip installs LibTorch: %1 so far</source>
        <extracomment>%1 is the size downloaded so far</extracomment>
        <translation>Sein pip installiert LibTorch: bisher %1</translation>
    </message>
    <message>
        <source>Looking at what LibTorch needs…</source>
        <translation>Was LibTorch braucht, wird nachgesehen …</translation>
    </message>
    <message>
        <source>Sending LibTorch: %1 of %2</source>
        <extracomment>progress of copying: %1 and %2 are sizes</extracomment>
        <translation>LibTorch wird gesendet: %1 von %2</translation>
    </message>
    <message>
        <source>none: %1</source>
        <translation>keine: %1</translation>
    </message>
    <message>
        <source>%1 each way at once, %2 µs</source>
        <extracomment>a link between two machines: %1 is a rate, %2 a number of microseconds</extracomment>
        <translation>%1 je Richtung zugleich, %2 µs</translation>
    </message>
    <message>
        <source>Self-test</source>
        <translation>Selbsttest</translation>
    </message>
    <message>
        <source>passed in %1 with LibTorch %2, %3</source>
        <extracomment>a self-test: %1 is a duration, %2 a version, %3 how long ago</extracomment>
        <translation>bestanden in %1 mit LibTorch %2, %3</translation>
    </message>
    <message>
        <source>Interface to %1</source>
        <extracomment>%1 is a machine</extracomment>
        <translation>Schnittstelle zu %1</translation>
    </message>
    <message>
        <source>Link with %1</source>
        <extracomment>%1 is a machine</extracomment>
        <translation>Verbindung mit %1</translation>
    </message>
    <message>
        <source>at least %1 RAM per node</source>
        <extracomment>main memory of the nodes of a cluster: %1 is a size</extracomment>
        <translation>ab %1 Arbeitsspeicher je Knoten</translation>
    </message>
    <message>
        <source>%1 per GPU</source>
        <extracomment>memory of a machine&apos;s GPUs: %1 is a size</extracomment>
        <translation>%1 je GPU</translation>
    </message>
    <message>
        <source>%1 of %2 RAM free</source>
        <extracomment>a machine&apos;s main memory: %1 and %2 are sizes</extracomment>
        <translation>%1 von %2 Arbeitsspeicher frei</translation>
    </message>
</context>
<context>
    <name>PlanVerdict</name>
    <message>
        <source>%1 of %2 on the fullest rank</source>
        <translation>%1 von %2 auf dem vollsten Rank</translation>
    </message>
    <message>
        <source>%1 exposed communication</source>
        <translation>%1 nicht verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>%1 waiting for offloaded data</source>
        <translation>%1 Warten auf ausgelagerte Daten</translation>
    </message>
    <message>
        <source>about %1 in all</source>
        <translation>insgesamt etwa %1</translation>
    </message>
    <message>
        <source>INVALID</source>
        <translation>UNGÜLTIG</translation>
    </message>
    <message numerus="yes">
        <source>%n problem(s) before it can launch.</source>
        <translation>
            <numerusform>%n Fehler verhindert den Start.</numerusform>
            <numerusform>%n Fehler verhindern den Start.</numerusform>
        </translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation>Zeile %1: %2</translation>
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
            <numerusform>%n CPU-Rank</numerusform>
            <numerusform>%n CPU-Ranks</numerusform>
        </translation>
    </message>
    <message>
        <source>no splitting</source>
        <translation>keine Aufteilung</translation>
    </message>
    <message>
        <source>FITS</source>
        <translation>PASST</translation>
    </message>
    <message>
        <source>TIGHT</source>
        <translation>KNAPP</translation>
    </message>
    <message>
        <source>WILL NOT FIT</source>
        <translation>PASST NICHT</translation>
    </message>
    <message>
        <source>UNKNOWN</source>
        <translation>UNBEKANNT</translation>
    </message>
    <message>
        <source>This machine is still being asked.</source>
        <translation>Dieser Rechner wird noch geprüft.</translation>
    </message>
    <message>
        <source>Memory and time are not known.</source>
        <translation>Speicher und Zeit sind nicht bekannt.</translation>
    </message>
    <message>
        <source>as the file stands</source>
        <translation>wie der Text dasteht</translation>
    </message>
    <message>
        <source>fits where the present plan does not</source>
        <translation>passt, anders als der jetzige Plan</translation>
    </message>
    <message>
        <source>layers are computed again in the backward: less memory</source>
        <translation>Schichten werden im Rückwärtslauf neu berechnet: weniger Speicher</translation>
    </message>
    <message>
        <source>activations are kept: nothing is computed twice</source>
        <translation>Aktivierungen bleiben erhalten: nichts wird doppelt berechnet</translation>
    </message>
    <message>
        <source>MLPs go in tiles of tokens: less memory</source>
        <translation>MLPs gehen in Kacheln von Token: weniger Speicher</translation>
    </message>
    <message>
        <source>MLPs are computed whole: nothing of them twice</source>
        <translation>MLPs werden am Stück gerechnet: nichts davon doppelt</translation>
    </message>
    <message numerus="yes">
        <source>states are shared by %n rank(s) (ZeRO %1): less memory</source>
        <translation>
            <numerusform>die Zustände liegen auf %n Rank (ZeRO %1): weniger Speicher</numerusform>
            <numerusform>%n Ranks teilen sich die Zustände (ZeRO %1): weniger Speicher</numerusform>
        </translation>
    </message>
    <message>
        <source>every rank holds all states: nothing is gathered</source>
        <translation>jeder Rank hält alle Zustände: nichts wird gesammelt</translation>
    </message>
    <message>
        <source>every rank holds all weights: they are gathered once a step</source>
        <translation>jeder Rank hält alle Gewichte: sie werden einmal je Schritt gesammelt</translation>
    </message>
    <message>
        <source>every rank has the same attention work</source>
        <translation>jeder Rank hat gleich viel Attention-Arbeit</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence instead of %1: less is exchanged</source>
        <translation>
            <numerusform>%n Rank statt %1 je Sequenz: weniger Austausch</numerusform>
            <numerusform>%n Ranks statt %1 teilen sich eine Sequenz: weniger Austausch</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share a sequence: %1 tokens on each</source>
        <translation>
            <numerusform>%n Rank je Sequenz: %1 Tokens auf jedem</numerusform>
            <numerusform>%n Ranks teilen sich eine Sequenz: %1 Tokens auf jedem</numerusform>
        </translation>
    </message>
    <message>
        <source>the global batch becomes %1</source>
        <translation>der globale Batch wird %1</translation>
    </message>
    <message>
        <source>keys and values go round one ring, heads are not split</source>
        <translation>Keys und Values gehen um einen Ring, Köpfe werden nicht aufgeteilt</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) split the heads by all-to-all: fewer hops in a ring</source>
        <translation>
            <numerusform>%n Rank hält alle Köpfe: weniger Etappen im Ring</numerusform>
            <numerusform>%n Ranks teilen die Köpfe per All-to-all: weniger Etappen im Ring</numerusform>
        </translation>
    </message>
    <message>
        <source>another layout or micro-batch</source>
        <translation>anderes Layout oder anderer Mikro-Batch</translation>
    </message>
    <message>
        <source>attention&apos;s output is kept: only the rest of a layer is computed again</source>
        <translation>die Ausgabe der Attention bleibt: nur der Rest einer Schicht wird neu berechnet</translation>
    </message>
    <message>
        <source>attention is computed again too: less memory</source>
        <translation>auch die Attention wird neu berechnet: weniger Speicher</translation>
    </message>
    <message>
        <source>activations wait in host memory: less of the device&apos;s</source>
        <translation>Aktivierungen warten im Arbeitsspeicher: weniger vom Gerätespeicher</translation>
    </message>
    <message>
        <source>activations stay on the device: nothing is copied</source>
        <translation>Aktivierungen bleiben auf dem Gerät: nichts wird kopiert</translation>
    </message>
    <message>
        <source>One step takes %1: use more GPUs, a smaller model or a shorter sequence.</source>
        <translation>Ein Schritt dauert %1: Verwenden Sie mehr GPUs, ein kleineres Modell oder eine kürzere Sequenz.</translation>
    </message>
    <message>
        <source>data parallel %1</source>
        <translation>datenparallel %1</translation>
    </message>
    <message>
        <source>ring %1</source>
        <extracomment>ranks of a mesh that pass keys and values round</extracomment>
        <translation>Ring %1</translation>
    </message>
    <message>
        <source>ulysses %1</source>
        <extracomment>ranks of a mesh that split the heads; Ulysses is a name</extracomment>
        <translation>Ulysses %1</translation>
    </message>
    <message>
        <source>expert %1</source>
        <extracomment>ranks of a mesh that share the experts of a layer</extracomment>
        <translation>Experten %1</translation>
    </message>
</context>
<context>
    <name>Progress</name>
    <message>
        <source>computing the reference</source>
        <translation>die Referenz wird berechnet</translation>
    </message>
    <message>
        <source>waiting for files of rollouts</source>
        <translation>Warten auf Rollouts</translation>
    </message>
    <message>
        <source>the ranks meet</source>
        <translation>die Ranks finden einander</translation>
    </message>
    <message>
        <source>loading the model</source>
        <translation>Modell wird geladen</translation>
    </message>
    <message>
        <source>tokenizing</source>
        <translation>Tokenisierung</translation>
    </message>
    <message>
        <source>proving the mesh</source>
        <translation>Mesh wird geprüft</translation>
    </message>
    <message>
        <source>training</source>
        <translation>Training</translation>
    </message>
    <message>
        <source>saving the final model</source>
        <translation>fertiges Modell wird gespeichert</translation>
    </message>
    <message>
        <source>loading the tokenizer</source>
        <translation>Tokenizer wird geladen</translation>
    </message>
    <message>
        <source>resizing the embeddings</source>
        <translation>Embeddings werden vergrößert</translation>
    </message>
    <message>
        <source>reading %1</source>
        <translation>%1 wird gelesen</translation>
    </message>
    <message>
        <source>hashing %1</source>
        <translation>Prüfsumme von %1</translation>
    </message>
    <message>
        <source>fetching %1</source>
        <translation>%1 wird geholt</translation>
    </message>
    <message>
        <source>verifying the checkpoint</source>
        <translation>Checkpoint wird geprüft</translation>
    </message>
    <message>
        <source>making the example</source>
        <translation>Beispiel wird angelegt</translation>
    </message>
    <message>
        <source>making the Python environment</source>
        <translation>Python-Umgebung wird angelegt</translation>
    </message>
    <message>
        <source>waiting for another set-up to finish</source>
        <translation>wartet auf das Ende einer anderen Einrichtung</translation>
    </message>
    <message>
        <source>looking for the packages</source>
        <translation>Pakete werden gesucht</translation>
    </message>
    <message>
        <source>downloading %1</source>
        <translation>%1 wird heruntergeladen</translation>
    </message>
    <message>
        <source>unpacking the packages</source>
        <translation>Pakete werden entpackt</translation>
    </message>
    <message>
        <source>connecting to the nodes</source>
        <translation>Verbindung mit den Knoten</translation>
    </message>
    <message>
        <source>connecting to %1</source>
        <translation>Verbindung mit %1</translation>
    </message>
    <message>
        <source>sending to %1</source>
        <translation>wird an %1 gesendet</translation>
    </message>
    <message>
        <source>installing LibTorch on %1</source>
        <translation>LibTorch wird auf %1 installiert</translation>
    </message>
    <message>
        <source>looking at what is on %1</source>
        <translation>%1 wird angesehen</translation>
    </message>
    <message>
        <source>waiting for the end of Slurm job %1</source>
        <translation>wartet auf das Ende von Slurm-Job %1</translation>
    </message>
    <message>
        <source>waiting for %1</source>
        <translation>wartet auf %1</translation>
    </message>
    <message>
        <source>self-test</source>
        <translation>Selbsttest</translation>
    </message>
    <message>
        <source>measuring links</source>
        <translation>Verbindungen werden gemessen</translation>
    </message>
    <message>
        <source>measuring: %1</source>
        <translation>Messung: %1</translation>
    </message>
    <message>
        <source>%1, %2 of %3</source>
        <extracomment>%1 is what a run does now, %2 how much of it is done, or for how long it waits; %3 the whole, or the longest time</extracomment>
        <translation>%1, %2 von %3</translation>
    </message>
    <message>
        <source>preparing the upload</source>
        <translation>Vorbereiten des Hochladens</translation>
    </message>
    <message>
        <source>uploading to %1</source>
        <translation>Hochladen nach %1</translation>
    </message>
    <message>
        <source>converting to GGUF</source>
        <translation>Umwandeln in GGUF</translation>
    </message>
    <message>
        <source>writing the rows</source>
        <translation>Zeilen werden geschrieben</translation>
    </message>
    <message>
        <source>writing the evaluation rows</source>
        <translation>Zeilen für die Auswertung werden geschrieben</translation>
    </message>
    <message>
        <source>sending to %1 nodes</source>
        <translation>wird an %1 Rechner gesendet</translation>
    </message>
    <message>
        <source>waiting for the end of a step</source>
        <translation>wartet auf das Ende eines Schritts</translation>
    </message>
</context>
<context>
    <name>QShortcut</name>
    <message>
        <source>Ctrl</source>
        <translation>Strg</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>Umschalt</translation>
    </message>
    <message>
        <source>Return</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Entf</translation>
    </message>
</context>
<context>
    <name>RunMarks</name>
    <message>
        <source>waiting</source>
        <extracomment>state of a run</extracomment>
        <translation>wartet</translation>
    </message>
    <message>
        <source>preparing</source>
        <extracomment>state of a run</extracomment>
        <translation>wird vorbereitet</translation>
    </message>
    <message>
        <source>running</source>
        <extracomment>state of a run</extracomment>
        <translation>läuft</translation>
    </message>
    <message>
        <source>stopping</source>
        <extracomment>state of a run</extracomment>
        <translation>stoppt</translation>
    </message>
    <message>
        <source>completed</source>
        <extracomment>state of a run</extracomment>
        <translation>abgeschlossen</translation>
    </message>
    <message>
        <source>stopped</source>
        <extracomment>state of a run</extracomment>
        <translation>gestoppt</translation>
    </message>
    <message>
        <source>failed</source>
        <extracomment>state of a run</extracomment>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>damaged</source>
        <extracomment>state of a run</extracomment>
        <translation>beschädigt</translation>
    </message>
    <message>
        <source>incomplete</source>
        <extracomment>state of a run</extracomment>
        <translation>unvollständig</translation>
    </message>
    <message>
        <source>Its events end at step %1, before the last.</source>
        <translation>Seine Ereignisse enden bei Schritt %1, vor dem letzten.</translation>
    </message>
</context>
<context>
    <name>RunReasons</name>
    <message>
        <source>)</source>
        <translation>)</translation>
    </message>
    <message>
        <source>
rank %1 has not ended yet: the system does not let it</source>
        <translation>
Rank %1 ist noch nicht beendet: Das System lässt es nicht zu</translation>
    </message>
    <message>
        <source>; transfer %1 of %2)</source>
        <translation>; Übertragung %1 von %2)</translation>
    </message>
    <message>
        <source> (saving after step %1</source>
        <translation> (beim Speichern nach Schritt %1</translation>
    </message>
    <message>
        <source> (forward of the evaluation after step %1</source>
        <translation> (vorwärts in der Auswertung nach Schritt %1</translation>
    </message>
    <message>
        <source> (the evaluation after step %1</source>
        <translation> (Auswertung nach Schritt %1</translation>
    </message>
    <message>
        <source> (backward of step %1, micro-batch %2</source>
        <translation> (rückwärts in Schritt %1, Micro-Batch %2</translation>
    </message>
    <message>
        <source> (forward of step %1, micro-batch %2</source>
        <translation> (vorwärts in Schritt %1, Micro-Batch %2</translation>
    </message>
    <message>
        <source> (step %1</source>
        <translation> (Schritt %1</translation>
    </message>
    <message>
        <source> (preflight</source>
        <translation> (Vorprüfung</translation>
    </message>
    <message>
        <source> (starting</source>
        <translation> (beim Start</translation>
    </message>
    <message>
        <source>, for the %1 of all %2 ranks of %3</source>
        <translation>, auf %1 aller %2 Ranks von %3</translation>
    </message>
    <message>
        <source>, for rank %1 to take %2</source>
        <translation>, darauf, dass Rank %1 %2 annimmt</translation>
    </message>
    <message>
        <source>, for rank %1 to send %2</source>
        <translation>, darauf, dass Rank %1 %2 sendet</translation>
    </message>
    <message>
        <source> after layer %1, hop %2</source>
        <translation> nach Schicht %1, Hop %2</translation>
    </message>
    <message>
        <source> after layer %1</source>
        <translation> nach Schicht %1</translation>
    </message>
    <message>
        <source> in layer %1, hop %2</source>
        <translation> in Schicht %1, Hop %2</translation>
    </message>
    <message>
        <source> in layer %1</source>
        <translation> in Schicht %1</translation>
    </message>
    <message>
        <source> before the first layer</source>
        <translation> vor der ersten Schicht</translation>
    </message>
    <message>
        <source> is at work</source>
        <translation> arbeitet</translation>
    </message>
    <message>
        <source> waits</source>
        <translation> wartet</translation>
    </message>
    <message>
        <source> is stopped; it</source>
        <translation> ist angehalten; er</translation>
    </message>
    <message>
        <source>: it</source>
        <translation>: Er</translation>
    </message>
    <message>
        <source>rank %1 was stopped by %2 and not continued for %3 s</source>
        <translation>Rank %1 wurde durch %2 angehalten und %3 s lang nicht fortgesetzt</translation>
    </message>
    <message>
        <source>
  rank %1</source>
        <translation>
  Rank %1</translation>
    </message>
    <message>
        <source>; rank %1</source>
        <translation>; Rank %1</translation>
    </message>
    <message>
        <source>completed after step %1</source>
        <translation>fertig nach Schritt %1</translation>
    </message>
    <message>
        <source>preflight passed</source>
        <translation>Vorprüfung bestanden</translation>
    </message>
    <message>
        <source>stopped by request before the first step</source>
        <translation>auf Wunsch vor dem ersten Schritt gestoppt</translation>
    </message>
    <message>
        <source>stopped by request after step %1</source>
        <translation>auf Wunsch nach Schritt %1 gestoppt</translation>
    </message>
    <message>
        <source>stopped at once by request before the first step</source>
        <translation>auf Wunsch sofort gestoppt, vor dem ersten Schritt</translation>
    </message>
    <message>
        <source>stopped at once by request after step %1</source>
        <translation>auf Wunsch sofort gestoppt, nach Schritt %1</translation>
    </message>
    <message>
        <source>stopped at once by request, nothing was saved</source>
        <translation>auf Wunsch sofort gestoppt, nichts wurde gespeichert</translation>
    </message>
    <message>
        <source>stopped by request</source>
        <translation>auf Wunsch gestoppt</translation>
    </message>
    <message>
        <source>interrupted before it started</source>
        <translation>vor dem Start abgebrochen</translation>
    </message>
    <message>
        <source>saved after step %1, its time was nearly over: waits to be started again</source>
        <translation>nach Schritt %1 gespeichert, die Zeit war fast um: wartet auf den nächsten Start</translation>
    </message>
    <message>
        <source>: the model is in %1</source>
        <translation>: das Modell ist in %1</translation>
    </message>
    <message>
        <source>: the adapter is in %1</source>
        <translation>: der Adapter ist in %1</translation>
    </message>
    <message>
        <source>, which is saved</source>
        <translation> und gespeichert</translation>
    </message>
    <message>
        <source>, which was not saved</source>
        <translation>, der nicht gespeichert wurde</translation>
    </message>
    <message>
        <source>; saved in %1</source>
        <translation>; gespeichert in %1</translation>
    </message>
    <message>
        <source>: saved in %1</source>
        <translation>: gespeichert in %1</translation>
    </message>
    <message>
        <source>; the last checkpoint is of step %1</source>
        <translation>; der letzte Checkpoint ist von Schritt %1</translation>
    </message>
    <message>
        <source>; no checkpoint was saved</source>
        <translation>; kein Checkpoint wurde gespeichert</translation>
    </message>
    <message>
        <source>; the newest checkpoint is of step %1</source>
        <translation>; der neueste Checkpoint ist von Schritt %1</translation>
    </message>
    <message>
        <source>; nothing was saved</source>
        <translation>; nichts wurde gespeichert</translation>
    </message>
    <message>
        <source>rank %1 was killed by signal %2 (%3)</source>
        <translation>Rank %1 wurde durch Signal %2 (%3) beendet</translation>
    </message>
    <message>
        <source>rank %1 ended with exit status %2</source>
        <translation>Rank %1 endete mit Status %2</translation>
    </message>
    <message>
        <source>: out of memory</source>
        <translation>: der Speicher reichte nicht</translation>
    </message>
    <message>
        <source>: %1</source>
        <translation>: %1</translation>
    </message>
    <message>
        <source>; the disk of the run directory is full</source>
        <translation>; die Platte des Laufverzeichnisses ist voll</translation>
    </message>
    <message>
        <source>every rank ended with exit status 0, but rank 0 did not report that training is done</source>
        <translation>alle Ranks endeten mit Status 0, aber Rank 0 hat das Ende des Trainings nicht gemeldet</translation>
    </message>
    <message>
        <source>; the end of its log:%1</source>
        <translation>; das Ende seines Logs:%1</translation>
    </message>
    <message>
        <source>started again after: %1</source>
        <translation>neu gestartet nach: %1</translation>
    </message>
    <message>
        <source>its supervisor (pid %1 on host %2) is gone</source>
        <translation>sein Agent (PID %1 auf %2) ist nicht mehr da</translation>
    </message>
    <message>
        <source>: the machine was restarted</source>
        <translation>: der Rechner wurde neu gestartet</translation>
    </message>
    <message>
        <source>Slurm job %1 reached its time limit</source>
        <translation>Slurm-Job %1 hat sein Zeitlimit erreicht</translation>
    </message>
    <message>
        <source>
`ringmaster resume RUN --slurm time=…` goes on with more time</source>
        <translation>
`ringmaster resume RUN --slurm time=…` setzt mit mehr Zeit fort</translation>
    </message>
    <message>
        <source>Slurm job %1 ran out of the memory that Slurm gave it</source>
        <translation>Slurm-Job %1 kam mit dem Arbeitsspeicher, den Slurm ihm gab, nicht aus</translation>
    </message>
    <message>
        <source>
--slurm mem=… with more, a shorter sequence_len, or more ranks</source>
        <translation>
--slurm mem=… mit mehr, eine kürzere sequence_len oder mehr Ranks</translation>
    </message>
    <message>
        <source>a node of Slurm job %1%2 failed</source>
        <translation>ein Knoten von Slurm-Job %1%2 ist ausgefallen</translation>
    </message>
    <message>
        <source>
`ringmaster resume RUN` goes on on other nodes</source>
        <translation>
`ringmaster resume RUN` setzt auf anderen Knoten fort</translation>
    </message>
    <message>
        <source>Slurm job %1 was preempted%2: it had to make way for another</source>
        <translation>Slurm-Job %1 wurde verdrängt%2: Er musste einem anderen weichen</translation>
    </message>
    <message>
        <source>
`ringmaster resume RUN` goes on from there</source>
        <translation>
`ringmaster resume RUN` setzt von dort fort</translation>
    </message>
    <message>
        <source>node %1 is gone: its agent was killed, or the machine</source>
        <translation>Rechner %1 ist weg: sein Agent wurde beendet, oder der Rechner ist ausgefallen</translation>
    </message>
    <message>
        <source>node %1 has been silent for %2 s: the machine or the network between</source>
        <translation>Rechner %1 schweigt seit %2 s: der Rechner oder das Netz dazwischen</translation>
    </message>
    <message>
        <source>node %1 was cut off: a line came on its connection that its agent did not send</source>
        <translation>Rechner %1 wurde abgeschnitten: über seine Verbindung kam eine Zeile, die sein Agent nicht gesendet hat</translation>
    </message>
    <message>
        <source>node %1 sent a description that cannot be read</source>
        <translation>Rechner %1 hat eine Beschreibung gesendet, die sich nicht lesen lässt</translation>
    </message>
    <message>
        <source>node %1 sent ends of ranks that cannot be read</source>
        <translation>Rechner %1 hat Enden von Ranks gesendet, die sich nicht lesen lassen</translation>
    </message>
    <message>
        <source>node %1 did not come</source>
        <translation>Rechner %1 hat sich nicht gemeldet</translation>
    </message>
    <message>
        <source>node %1 did not end its ranks</source>
        <translation>Rechner %1 hat seine Ranks nicht beendet</translation>
    </message>
    <message>
        <source>Slurm job %1 was cancelled</source>
        <translation>Slurm-Job %1 wurde abgebrochen</translation>
    </message>
    <message>
        <source>Slurm job %1 could not open agent.log in the run directory%2</source>
        <translation>Slurm-Job %1 konnte agent.log im Laufverzeichnis nicht öffnen%2</translation>
    </message>
    <message>
        <source>
the run directory has to be on a file system that the nodes share: --runs-dir</source>
        <translation>
das Laufverzeichnis muss auf einem Dateisystem liegen, das die Knoten teilen: --runs-dir</translation>
    </message>
    <message>
        <source>Slurm job %1 ended with status %2</source>
        <translation>Slurm-Job %1 endete mit Status %2</translation>
    </message>
    <message>
        <source>, signal %1</source>
        <translation>, Signal %1</translation>
    </message>
    <message>
        <source>Slurm does not know Slurm job %1 any more</source>
        <translation>Slurm kennt Slurm-Job %1 nicht mehr</translation>
    </message>
    <message>
        <source>Slurm job %1 ended (%2) and its ranks left no last word</source>
        <translation>Slurm-Job %1 endete (%2), ohne dass seine Ranks noch etwas meldeten</translation>
    </message>
    <message>
        <source>Slurm put Slurm job %1 back into its queue</source>
        <translation>Slurm hat Slurm-Job %1 wieder in seine Warteschlange gestellt</translation>
    </message>
    <message>
        <source>Slurm job %1 was preempted: Slurm put it back into its queue</source>
        <translation>Slurm-Job %1 wurde verdrängt: Slurm hat ihn wieder in seine Warteschlange gestellt</translation>
    </message>
    <message>
        <source>saved as its time was nearly over, and Slurm did not take Slurm job %1 back into its queue</source>
        <translation>gespeichert, weil die Zeit fast um war; Slurm hat Slurm-Job %1 nicht wieder in seine Warteschlange genommen</translation>
    </message>
</context>
<context>
    <name>Verdicts</name>
    <message>
        <source>The others wait %1 of a step for it since step %2 or earlier.</source>
        <translation>Seit Schritt %2 oder schon länger warten die anderen %1 jedes Schritts auf ihn.</translation>
    </message>
    <message>
        <source>A rank</source>
        <translation>Ein Rank</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <extracomment>%1 is a rank&apos;s number, %2 its host</extracomment>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>Rank %1 on %2</source>
        <translation>Rank %1 auf %2</translation>
    </message>
    <message>
        <source>Resume goes on from the checkpoint of step %1.</source>
        <translation>„Fortsetzen“ macht beim Checkpoint von Schritt %1 weiter.</translation>
    </message>
    <message>
        <source>No checkpoint was saved: resume starts from the beginning.</source>
        <translation>Es gibt keinen Checkpoint: „Fortsetzen“ beginnt von vorn.</translation>
    </message>
    <message>
        <source>%1 has not finished a step.</source>
        <translation>%1 hat noch keinen Schritt beendet.</translation>
    </message>
    <message>
        <source>No step for %1.</source>
        <translation>Seit %1 kein Schritt.</translation>
    </message>
    <message>
        <source>The loss is not a number.</source>
        <translation>Der Loss ist keine Zahl.</translation>
    </message>
    <message>
        <source>It began at step %1.</source>
        <translation>Es begann bei Schritt %1.</translation>
    </message>
    <message>
        <source>Stop now and lower the learning rate or max_grad_norm.</source>
        <translation>Stoppen Sie sofort, und verkleinern Sie Lernrate oder max_grad_norm.</translation>
    </message>
    <message>
        <source>Stop now, lower the learning rate or max_grad_norm, and resume from step %1.</source>
        <translation>Stoppen Sie sofort, verkleinern Sie Lernrate oder max_grad_norm, und setzen Sie von Schritt %1 fort.</translation>
    </message>
    <message>
        <source>Memory is nearly full.</source>
        <translation>Der Speicher ist fast voll.</translation>
    </message>
    <message>
        <source>%1 uses %2 of its device at the peak.</source>
        <translation>%1 belegt an der Spitze %2 seines Geräts.</translation>
    </message>
    <message>
        <source>A longer sequence or a larger batch would not fit.</source>
        <translation>Eine längere Sequenz oder ein größerer Batch würde nicht passen.</translation>
    </message>
    <message>
        <source>%1 is slow.</source>
        <translation>%1 ist langsam.</translation>
    </message>
    <message>
        <source>The others wait %1 of a step for it since step %2.</source>
        <translation>Seit Schritt %2 warten die anderen %1 jedes Schritts auf ihn.</translation>
    </message>
    <message>
        <source>Check that device: temperature, clock, other programs.</source>
        <translation>Prüfen Sie sein Gerät: Temperatur, Takt, andere Programme.</translation>
    </message>
    <message>
        <source>The loss has jumped.</source>
        <translation>Der Loss ist gesprungen.</translation>
    </message>
    <message>
        <source>At step %1 it is %2 above the usual.</source>
        <translation>Bei Schritt %1 liegt er %2 über dem üblichen.</translation>
    </message>
    <message>
        <source>Watch the gradient norm; lower the learning rate if it stays.</source>
        <translation>Beobachten Sie die Gradientennorm; bleibt der Loss oben, verkleinern Sie die Lernrate.</translation>
    </message>
    <message>
        <source>It has become slower.</source>
        <translation>Der Lauf ist langsamer geworden.</translation>
    </message>
    <message>
        <source>Tokens per second fell by %1.</source>
        <translation>Die Tokens je Sekunde fielen um %1.</translation>
    </message>
    <message>
        <source>Look for other programs on the nodes, and at the wait for data.</source>
        <translation>Achten Sie auf andere Programme auf den Knoten und auf das Warten auf Daten.</translation>
    </message>
    <message>
        <source>Much waiting for communication.</source>
        <translation>Viel Warten auf Kommunikation.</translation>
    </message>
    <message>
        <source>%1 of a step is exposed communication.</source>
        <translation>%1 jedes Schritts sind nicht verdeckte Kommunikation.</translation>
    </message>
    <message>
        <source>Other plans on the Plan page may expose less.</source>
        <translation>Die Alternativen auf der Seite Plan verdecken vielleicht mehr.</translation>
    </message>
    <message>
        <source>Completed.</source>
        <translation>Abgeschlossen.</translation>
    </message>
    <message>
        <source>The result is in %1.</source>
        <translation>Das Ergebnis liegt in %1.</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>Gestoppt.</translation>
    </message>
    <message>
        <source>Failed.</source>
        <translation>Fehlgeschlagen.</translation>
    </message>
    <message>
        <source>Waiting to start.</source>
        <translation>Wartet auf den Start.</translation>
    </message>
    <message>
        <source>Starting.</source>
        <translation>Startet.</translation>
    </message>
    <message>
        <source>Now: %1.</source>
        <translation>Jetzt: %1.</translation>
    </message>
    <message>
        <source>Running well.</source>
        <translation>Läuft gut.</translation>
    </message>
    <message>
        <source>%1 of a step is exposed communication; no rank holds the others up.</source>
        <translation>%1 jedes Schritts sind nicht verdeckte Kommunikation; kein Rank hält die anderen auf.</translation>
    </message>
    <message>
        <source>Saving the final model.</source>
        <translation>Fertiges Modell wird gespeichert.</translation>
    </message>
    <message>
        <source>Stopping.</source>
        <translation>Stoppt.</translation>
    </message>
    <message>
        <source>The step is finished and a checkpoint saved.</source>
        <translation>Der Schritt wird beendet und ein Checkpoint gespeichert.</translation>
    </message>
    <message>
        <source>Disconnected.</source>
        <translation>Verbindung verloren.</translation>
    </message>
    <message>
        <source>Last heard %1.</source>
        <translation>Letztes Lebenszeichen: %1.</translation>
    </message>
    <message>
        <source>The run may well go on; what is known stays here.</source>
        <translation>Der Lauf geht vielleicht weiter; das Bekannte bleibt stehen.</translation>
    </message>
    <message>
        <source>Its files cannot be read any more.</source>
        <translation>Seine Dateien sind nicht mehr lesbar.</translation>
    </message>
    <message>
        <source>What is shown was read before.</source>
        <translation>Was Sie sehen, wurde vorher gelesen.</translation>
    </message>
    <message>
        <source>Running.</source>
        <translation>Läuft.</translation>
    </message>
    <message>
        <source>Waiting for rollouts.</source>
        <translation>Wartet auf Rollouts.</translation>
    </message>
    <message>
        <source>The next step begins when its files are in the folder.</source>
        <translation>Der nächste Schritt beginnt, sobald ihre Dateien im Ordner liegen.</translation>
    </message>
    <message>
        <source>The last finished step is %1.</source>
        <translation>Der letzte fertige Schritt ist %1.</translation>
    </message>
    <message>
        <source>No rank has finished a step.</source>
        <translation>Kein Rank hat einen Schritt beendet.</translation>
    </message>
    <message>
        <source>%1 stopped first, after step %2.</source>
        <translation>%1 blieb zuerst stehen, nach Schritt %2.</translation>
    </message>
    <message>
        <source>The last phase was %1.</source>
        <translation>Die letzte Phase war: %1.</translation>
    </message>
    <message>
        <source>Look at the log; stop now and resume if it does not come back.</source>
        <translation>Das Log lesen; kommt nichts mehr, sofort stoppen und fortsetzen.</translation>
    </message>
</context>
<context>
    <name>ringmaster::AdaptDialog</name>
    <message>
        <source>Make it run</source>
        <translation>Lauffähig machen</translation>
    </message>
    <message>
        <source>With these changes the plan works.</source>
        <translation>Mit diesen Änderungen geht der Plan auf.</translation>
    </message>
    <message>
        <source>The plan does not work yet.</source>
        <translation>Der Plan geht noch nicht auf.</translation>
    </message>
    <message>
        <source>Result: %1</source>
        <translation>Ergebnis: %1</translation>
    </message>
    <message>
        <source>Memory of the fullest rank: %1</source>
        <translation>Speicher des vollsten Ranks: %1</translation>
    </message>
    <message>
        <source>Global batch: %1 instead of %2</source>
        <translation>Globaler Batch: %1 statt %2</translation>
    </message>
    <message>
        <source>Missing:</source>
        <translation>Es fehlt:</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>Änderungen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>Übernehmen</translation>
    </message>
</context>
<context>
    <name>ringmaster::AddTarget</name>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Kind of target</source>
        <translation>Art des Ziels</translation>
    </message>
    <message>
        <source>Machine over SSH</source>
        <translation>Rechner über SSH</translation>
    </message>
    <message>
        <source>Slurm of this machine</source>
        <translation>Slurm dieses Rechners</translation>
    </message>
    <message>
        <source>Slurm through a login node</source>
        <translation>Slurm über einen Login-Knoten</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>Rechner</translation>
    </message>
    <message>
        <source>A host of ~/.ssh/config, or [user@]host[:port]</source>
        <translation>Ein Host aus ~/.ssh/config oder [Benutzer@]Rechner[:Port]</translation>
    </message>
    <message>
        <source>[user@]host[:port]</source>
        <translation>[Benutzer@]Rechner[:Port]</translation>
    </message>
</context>
<context>
    <name>ringmaster::AdviceCard</name>
    <message>
        <source>Other plans</source>
        <translation>Alternativen</translation>
    </message>
    <message>
        <source>ranked by predicted tokens/s</source>
        <translation>nach vorhergesagten Tokens/s</translation>
    </message>
    <message>
        <source>Nothing is planned yet.</source>
        <translation>Noch nichts geplant.</translation>
    </message>
    <message>
        <source>Show fewer</source>
        <translation>Weniger zeigen</translation>
    </message>
    <message numerus="yes">
        <source>Show %n more</source>
        <translation>
            <numerusform>%n weitere zeigen</numerusform>
            <numerusform>%n weitere zeigen</numerusform>
        </translation>
    </message>
    <message>
        <source>The present plan is the fastest; these would be the next.</source>
        <translation>Der jetzige Plan ist der schnellste; das wären die nächsten.</translation>
    </message>
    <message>
        <source>No other mesh of this text can be trained as it stands.</source>
        <translation>So wie der Text dasteht, lässt sich kein anderes Mesh trainieren.</translation>
    </message>
    <message>
        <source>Nothing can be ranked: the model&apos;s shape is not known here.</source>
        <translation>Keine Reihenfolge möglich: Die Form des Modells ist hier nicht bekannt.</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>Writes into the text:</source>
        <translation>Schreibt in den Text:</translation>
    </message>
    <message>
        <source>Apply %1</source>
        <translation>%1 übernehmen</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 Tokens/s</translation>
    </message>
    <message>
        <source>%1 exposed</source>
        <extracomment>share of a step spent on communication that computation does not hide</extracomment>
        <translation>%1 nicht verdeckt</translation>
    </message>
    <message>
        <source>Ranked as if the problems of the text were solved.</source>
        <translation>Geordnet, als wären die Probleme des Textes gelöst.</translation>
    </message>
</context>
<context>
    <name>ringmaster::AlertsDialog</name>
    <message>
        <source>Show a notification on this desktop</source>
        <translation>Auf diesem Desktop benachrichtigen</translation>
    </message>
    <message>
        <source>Alerts</source>
        <translation>Warnungen</translation>
    </message>
    <message>
        <source>All charts mark alerts. The app shows those of the run in Monitor on this desktop. The webhook and the command belong to the runs that are made from now on: the machine of a run&apos;s first node calls them, even when this window is closed.</source>
        <translation>Alle Diagramme markieren Warnungen. Auf diesem Desktop zeigt die App die des Laufs, der im Monitor offen ist. Webhook und Befehl gehören zu den Läufen, die von jetzt an entstehen: Der Rechner des ersten Knotens ruft sie auf, auch wenn dieses Fenster geschlossen ist.</translation>
    </message>
    <message>
        <source>The webhook gets a POST with JSON. The command is run without a shell: the message is its last argument, and the JSON is on its input.</source>
        <translation>Der Webhook erhält einen POST mit JSON. Der Befehl läuft ohne Shell: Die Meldung ist sein letztes Argument, das JSON kommt über seine Standardeingabe.</translation>
    </message>
    <message>
        <source>Webhook</source>
        <translation>Webhook</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>The settings cannot be read.</source>
        <translation>Die Einstellungen lassen sich nicht lesen.</translation>
    </message>
    <message>
        <source>Tell me when</source>
        <translation>Diese Ereignisse melden</translation>
    </message>
    <message>
        <source>The settings were not saved.</source>
        <translation>Die Einstellungen wurden nicht gespeichert.</translation>
    </message>
    <message>
        <source>Saving replaces them.</source>
        <translation>Speichern ersetzt sie.</translation>
    </message>
    <message>
        <source>A quotation mark in the command is not closed.</source>
        <translation>Ein Anführungszeichen des Befehls ist nicht geschlossen.</translation>
    </message>
    <message>
        <source>Add the second quote.</source>
        <translation>Ergänzen Sie das zweite Anführungszeichen.</translation>
    </message>
    <message>
        <source>The webhook is not an address that begins with https:// or http://.</source>
        <translation>Der Webhook ist keine Adresse, die mit https:// oder http:// beginnt.</translation>
    </message>
    <message>
        <source>Paste the address as the service shows it.</source>
        <translation>Fügen Sie die Adresse so ein, wie der Dienst sie anzeigt.</translation>
    </message>
    <message>
        <source>The command has to begin with a program, and may have at most 63 arguments of at most 4,096 characters.</source>
        <translation>Der Befehl muss mit einem Programm beginnen und darf höchstens 63 Argumente mit je höchstens 4.096 Zeichen haben.</translation>
    </message>
    <message>
        <source>Name a program and its arguments, or leave the field empty.</source>
        <translation>Nennen Sie ein Programm mit seinen Argumenten, oder lassen Sie das Feld leer.</translation>
    </message>
</context>
<context>
    <name>ringmaster::AttentionCard</name>
    <message>
        <source>Attention kernels</source>
        <translation>Attention-Kernel</translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>Erst bekannt, wenn die Probleme oben behoben sind.</translation>
    </message>
    <message>
        <source>Not known yet: the model&apos;s shape is missing.</source>
        <translation>Noch nicht bekannt: die Form des Modells fehlt.</translation>
    </message>
    <message>
        <source>%1: %2 (%3)</source>
        <extracomment>a kernel, what it computes, and why</extracomment>
        <translation>%1: %2 (%3)</translation>
    </message>
</context>
<context>
    <name>ringmaster::BatchCard</name>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>Erst bekannt, wenn die Probleme oben behoben sind.</translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation>Globaler Batch</translation>
    </message>
    <message>
        <source>Changes gradient_accumulation_steps in the text; undo takes it back</source>
        <translation>Ändert gradient_accumulation_steps im Text; lässt sich rückgängig machen</translation>
    </message>
    <message>
        <source>Global batch: %1</source>
        <translation>Globaler Batch: %1</translation>
    </message>
    <message>
        <source>Keep %1: accumulate %2</source>
        <translation>%1 beibehalten: %2 akkumulieren</translation>
    </message>
    <message numerus="yes">
        <source>%1 becomes %2: %n rank(s) share one sequence.</source>
        <translation>
            <numerusform>Aus %1 wird %2: %n Rank je Sequenz.</numerusform>
            <numerusform>Aus %1 wird %2: %n Ranks teilen sich eine Sequenz.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>row(s) a step</source>
        <extracomment>below a figure, the number of the rows</extracomment>
        <translation>
            <numerusform>Zeile je Schritt</numerusform>
            <numerusform>Zeilen je Schritt</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 micro × %2 accumulation × (%n rank(s) ÷ %3)</source>
        <translation>
            <numerusform>Micro-Batch %1 × Akkumulation %2 × (%n Rank ÷ %3)</numerusform>
            <numerusform>Micro-Batch %1 × Akkumulation %2 × (%n Ranks ÷ %3)</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens a step</source>
        <translation>%1 Tokens je Schritt</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>%1 Schritte</translation>
    </message>
</context>
<context>
    <name>ringmaster::ChartCard</name>
    <message>
        <source>Menu of the chart %1</source>
        <translation>Menü des Diagramms %1</translation>
    </message>
    <message>
        <source>Save the chart, or see all of it</source>
        <translation>Diagramm speichern oder ganz zeigen</translation>
    </message>
    <message>
        <source>Save picture…</source>
        <translation>Bild speichern…</translation>
    </message>
    <message>
        <source>Pictures (*.png)</source>
        <translation>Bilder (*.png)</translation>
    </message>
    <message>
        <source>Save figures…</source>
        <translation>Werte speichern…</translation>
    </message>
    <message>
        <source>Figures (*.csv)</source>
        <translation>Werte (*.csv)</translation>
    </message>
    <message>
        <source>Show all of it</source>
        <translation>Ganz zeigen</translation>
    </message>
    <message>
        <source>The picture cannot be written there.</source>
        <translation>Dort lässt sich das Bild nicht schreiben.</translation>
    </message>
</context>
<context>
    <name>ringmaster::CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
    <message>
        <source>Type what you want to do</source>
        <translation>Tippen Sie, was Sie tun möchten</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Commands that match</source>
        <translation>Passende Befehle</translation>
    </message>
    <message>
        <source>No command matches.</source>
        <translation>Nichts gefunden.</translation>
    </message>
</context>
<context>
    <name>ringmaster::CompareView</name>
    <message>
        <source>Nothing differs in what was asked for.</source>
        <translation>Verlangt war in allem dasselbe.</translation>
    </message>
    <message>
        <source>Figures of the compared runs</source>
        <translation>Kennzahlen der verglichenen Läufe</translation>
    </message>
    <message>
        <source>Lines that differ</source>
        <translation>Zeilen, die sich unterscheiden</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>Alle Läufe</translation>
    </message>
    <message>
        <source>Back to the table (Esc)</source>
        <translation>Zurück zur Tabelle (Esc)</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleich</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>Tokens/s</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>Gradientennorm</translation>
    </message>
    <message>
        <source>Saved %1.</source>
        <translation>%1 gespeichert.</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>Kennzahlen</translation>
    </message>
    <message>
        <source>against the first run</source>
        <translation>gegenüber dem ersten Lauf</translation>
    </message>
    <message>
        <source>What differs</source>
        <translation>Unterschiede</translation>
    </message>
    <message>
        <source>in the configuration and, grey, in the plan</source>
        <translation>in der Konfiguration und, grau, im Plan</translation>
    </message>
    <message>
        <source>X axis</source>
        <translation>X-Achse</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Over completed steps</source>
        <translation>Über die beendeten Schritte</translation>
    </message>
    <message>
        <source>Over the tokens trained on</source>
        <translation>Über die trainierten Tokens</translation>
    </message>
    <message>
        <source>Over the seconds spent in steps: without pauses, saving and evaluation</source>
        <translation>Über die Sekunden in Schritten: ohne Pausen, Speichern und Auswerten</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n Lauf</numerusform>
            <numerusform>%n Läufe</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 has no steps yet.</source>
        <translation>%1 hat noch keine Schritte.</translation>
    </message>
    <message>
        <source>Not everything can be compared.</source>
        <translation>Nicht alles lässt sich vergleichen.</translation>
    </message>
    <message>
        <source>Logarithmic</source>
        <translation>Logarithmisch</translation>
    </message>
    <message>
        <source>Loss on a logarithmic axis</source>
        <translation>Loss auf logarithmischer Achse</translation>
    </message>
    <message>
        <source>Reward</source>
        <translation>Belohnung</translation>
    </message>
    <message>
        <source>Clipped ratios</source>
        <translation>Abgeschnittene Verhältnisse</translation>
    </message>
    <message>
        <source>Gap to the sampling server</source>
        <translation>Abstand zum Sampling-Server</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>Nicht verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
</context>
<context>
    <name>ringmaster::ContextCard</name>
    <message>
        <source>Context parallel size</source>
        <translation>Kontextparallelität</translation>
    </message>
    <message>
        <source>Context parallel size %1</source>
        <translation>Kontextparallelität %1</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share one sequence</source>
        <translation>
            <numerusform>%n Rank je Sequenz</numerusform>
            <numerusform>%n Ranks teilen sich eine Sequenz</numerusform>
        </translation>
    </message>
    <message>
        <source>The size has to divide %1.</source>
        <translation>Die Größe muss %1 teilen.</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s) share one sequence of %1 tokens: %2 each.</source>
        <translation>
            <numerusform>%n Rank je Sequenz von %1 Tokens: %2 auf jedem.</numerusform>
            <numerusform>%n Ranks teilen sich eine Sequenz von %1 Tokens: je %2.</numerusform>
        </translation>
    </message>
    <message>
        <source>Every rank holds whole sequences of %1 tokens.</source>
        <translation>Jeder Rank hält ganze Sequenzen von %1 Tokens.</translation>
    </message>
    <message>
        <source>One rank holds whole sequences of %1 tokens.</source>
        <translation>Ein Rank hält ganze Sequenzen von %1 Tokens.</translation>
    </message>
</context>
<context>
    <name>ringmaster::DataPage</name>
    <message>
        <source>tokens in the longest row kept</source>
        <translation>Tokens in der längsten verwendeten Zeile</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>ranks %1 to %2</source>
        <translation>Ranks %1 bis %2</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n Token</numerusform>
            <numerusform>%n Tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>of the tokens are trained</source>
        <translation>der Tokens trainiert</translation>
    </message>
    <message>
        <source>tokens in the longest document kept</source>
        <translation>Tokens im längsten verwendeten Dokument</translation>
    </message>
    <message>
        <source>rows, packed from documents</source>
        <translation>Zeilen, aus Dokumenten gepackt</translation>
    </message>
    <message>
        <source>Show the rows of %1</source>
        <translation>Zeilen von %1 zeigen</translation>
    </message>
    <message>
        <source>No rows are shown yet</source>
        <translation>Noch keine Zeilen zu sehen</translation>
    </message>
    <message>
        <source>Open a configuration on the Plan page and press Rows. You see the text after the template, and which tokens are trained.</source>
        <translation>Öffnen Sie auf der Seite Plan eine Konfiguration und drücken Sie „Zeilen“. Sie sehen den Text nach der Vorlage und welche Tokens trainiert werden.</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen…</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>All rows</source>
        <translation>Alle Zeilen</translation>
    </message>
    <message>
        <source>As the model reads it</source>
        <translation>Wie das Modell sie liest</translation>
    </message>
    <message>
        <source>underlined: trained · grey: read only · bold: a special token</source>
        <translation>unterstrichen: trainiert · grau: nur gelesen · fett: Sondertokens</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>Search the text of all rows</source>
        <translation>Text aller Zeilen durchsuchen</translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) hold it</source>
        <translation>
            <numerusform>%n Zeile enthält es</numerusform>
            <numerusform>%n Zeilen enthalten es</numerusform>
        </translation>
    </message>
    <message>
        <source>Reading the configuration</source>
        <translation>Die Konfiguration wird gelesen</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation>%1: %2 von %3</translation>
    </message>
    <message>
        <source>The rows cannot be shown.</source>
        <translation>Die Zeilen lassen sich nicht anzeigen.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>%1 left out: longer than sequence_len</source>
        <translation>%1 weggelassen: länger als sequence_len</translation>
    </message>
    <message>
        <source>%1 left out: too short</source>
        <translation>%1 weggelassen: zu kurz</translation>
    </message>
    <message>
        <source>%1 cut to sequence_len</source>
        <translation>%1 auf sequence_len gekürzt</translation>
    </message>
    <message>
        <source>%1 documents are packed into %2 rows, %3 full</source>
        <translation>%1 Dokumente sind in %2 Zeilen gepackt, zu %3 gefüllt</translation>
    </message>
    <message>
        <source>%1 more rows evaluate</source>
        <translation>%1 weitere Zeilen dienen der Auswertung</translation>
    </message>
    <message>
        <source>There is no tokenizer.json here: tokens are shown as numbers.</source>
        <translation>Hier liegt keine tokenizer.json: Tokens werden als Zahlen gezeigt.</translation>
    </message>
    <message>
        <source>%1 rows repeat an earlier one: row %2 is row %3 again</source>
        <translation>%1 Zeilen wiederholen eine frühere: Zeile %2 ist noch einmal Zeile %3</translation>
    </message>
    <message>
        <source>Row %1</source>
        <translation>Zeile %1</translation>
    </message>
    <message>
        <source>%1 tokens, %2 trained</source>
        <translation>%1 Tokens, %2 trainiert</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>und %n weitere</numerusform>
            <numerusform>und %n weitere</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n document(s)</source>
        <translation>
            <numerusform>%n Dokument</numerusform>
            <numerusform>%n Dokumente</numerusform>
        </translation>
    </message>
    <message>
        <source>step %1 of the first epoch on %2</source>
        <extracomment>when and where a row is trained on: &quot;step 12 of the first epoch on ranks 0 to 3&quot;</extracomment>
        <translation>Schritt %1 der ersten Epoche auf %2</translation>
    </message>
    <message>
        <source>searching…</source>
        <translation>Suche läuft…</translation>
    </message>
    <message>
        <source>%1, line %2</source>
        <translation>%1, Zeile %2</translation>
    </message>
    <message>
        <source>%1, row %2</source>
        <translation>%1, Zeile %2</translation>
    </message>
    <message>
        <source>Answers of a row share their prompt: %1 of the tokens are not computed again</source>
        <translation>Antworten einer Zeile teilen sich ihren Prompt: %1 der Tokens werden nicht noch einmal berechnet</translation>
    </message>
</context>
<context>
    <name>ringmaster::DetailsPanel</name>
    <message>
        <source>Open in Monitor</source>
        <translation>Im Monitor öffnen</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Duplicate into Plan</source>
        <translation>Im Plan duplizieren</translation>
    </message>
    <message>
        <source>Resume from here</source>
        <translation>Von hier fortsetzen</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>Geändert</translation>
    </message>
    <message>
        <source>Files of the run</source>
        <translation>Dateien des Laufs</translation>
    </message>
    <message>
        <source>Configuration of the run</source>
        <translation>Konfiguration des Laufs</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>Übersicht</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notizen</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>Checkpoints</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>Konfiguration</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Chosen run</source>
        <translation>Gewählter Lauf</translation>
    </message>
    <message>
        <source>Open in Monitor (Enter)</source>
        <translation>Im Monitor öffnen (Eingabe)</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <source>More actions for this run</source>
        <translation>Weitere Aktionen für diesen Lauf</translation>
    </message>
    <message>
        <source>Save diagnostics…</source>
        <translation>Diagnose speichern…</translation>
    </message>
    <message>
        <source>Export as CSV…</source>
        <translation>Als CSV exportieren…</translation>
    </message>
    <message>
        <source>Export for TensorBoard…</source>
        <translation>Für TensorBoard exportieren…</translation>
    </message>
    <message>
        <source>Open the run&apos;s folder</source>
        <translation>Ordner des Laufs öffnen</translation>
    </message>
    <message>
        <source>Open the trained model&apos;s folder</source>
        <translation>Ordner des trainierten Modells öffnen</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>Löschen…</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>best loss</source>
        <translation>bester Loss</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>Checkpoint</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>Gespeichert</translation>
    </message>
    <message>
        <source>Complete checkpoints</source>
        <translation>Vollständige Checkpoints</translation>
    </message>
    <message>
        <source>No run is chosen</source>
        <translation>Kein Lauf gewählt</translation>
    </message>
    <message>
        <source>This run&apos;s files are damaged.</source>
        <translation>Die Dateien dieses Laufs sind beschädigt.</translation>
    </message>
    <message>
        <source>It failed.</source>
        <translation>Der Lauf ist fehlgeschlagen.</translation>
    </message>
    <message>
        <source>%1 tokens a sequence</source>
        <translation>%1 Tokens je Sequenz</translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) a step</source>
        <translation>
            <numerusform>%n Zeile je Schritt</numerusform>
            <numerusform>%n Zeilen je Schritt</numerusform>
        </translation>
    </message>
    <message>
        <source>started %1</source>
        <translation>gestartet: %1</translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>Versuch %1</translation>
    </message>
    <message>
        <source>Goes on from the newest complete checkpoint</source>
        <translation>Geht vom neuesten vollständigen Checkpoint weiter</translation>
    </message>
    <message>
        <source>Only a run that stopped or failed can go on</source>
        <translation>Nur gestoppte oder fehlgeschlagene Läufe lassen sich fortsetzen</translation>
    </message>
    <message>
        <source>Checkpoints (%1)</source>
        <translation>Checkpoints (%1)</translation>
    </message>
    <message>
        <source>No checkpoint was saved to its end yet.</source>
        <translation>Noch kein vollständiger Checkpoint.</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Loss of the chosen run</source>
        <translation>Loss des gewählten Laufs</translation>
    </message>
    <message>
        <source>No step yet</source>
        <translation>Noch kein Schritt</translation>
    </message>
    <message>
        <source>ran %1</source>
        <translation>Dauer %1</translation>
    </message>
    <message>
        <source>on %1</source>
        <translation>auf %1</translation>
    </message>
    <message>
        <source>for Slurm</source>
        <translation>für Slurm</translation>
    </message>
    <message>
        <source>Slurm job %1</source>
        <extracomment>%1 is the number of a job, %2 a login node</extracomment>
        <translation>Slurm-Job %1</translation>
    </message>
    <message>
        <source>Slurm job %1 of %2</source>
        <translation>Slurm-Job %1 von %2</translation>
    </message>
    <message>
        <source>Bring model or checkpoint here…</source>
        <translation>Modell oder Checkpoint abholen…</translation>
    </message>
    <message>
        <source>Try the trained model…</source>
        <translation>Trainiertes Modell ausprobieren…</translation>
    </message>
    <message>
        <source>mean tokens/s</source>
        <translation>Tokens/s im Mittel</translation>
    </message>
    <message>
        <source>exposed communication (last steps)</source>
        <translation>nicht verdeckte Kommunikation (letzte Schritte)</translation>
    </message>
    <message>
        <source>running for %1</source>
        <extracomment>%1 is a duration such as 1 min 40 s</extracomment>
        <translation>läuft seit %1</translation>
    </message>
</context>
<context>
    <name>ringmaster::EstimateBars</name>
    <message>
        <source>Estimate beside measurement</source>
        <translation>Schätzung neben Messung</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>Schrittzeit</translation>
    </message>
    <message>
        <source>not measured yet</source>
        <translation>noch nicht gemessen</translation>
    </message>
    <message>
        <source>not estimated</source>
        <translation>nicht geschätzt</translation>
    </message>
    <message>
        <source>as estimated</source>
        <translation>wie geschätzt</translation>
    </message>
    <message>
        <source>%1 below the estimate</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation>%1 unter der Schätzung</translation>
    </message>
    <message>
        <source>%1 above the estimate</source>
        <extracomment>%1 is a share such as 7 %</extracomment>
        <translation>%1 über der Schätzung</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>geschätzt</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>%1 times the estimate</source>
        <translation>das %1-Fache der Schätzung</translation>
    </message>
    <message>
        <source>%1 of the estimate</source>
        <translation>%1 der Schätzung</translation>
    </message>
    <message>
        <source>%1 points below the estimate</source>
        <extracomment>of two shares; %1 is a number of percentage points</extracomment>
        <translation>%1 Prozentpunkte unter der Schätzung</translation>
    </message>
    <message>
        <source>%1 points above the estimate</source>
        <extracomment>of two shares; %1 is a number of percentage points</extracomment>
        <translation>%1 Prozentpunkte über der Schätzung</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>Nicht verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>Tensors of the fullest rank</source>
        <translation>Tensoren des vollsten Ranks</translation>
    </message>
</context>
<context>
    <name>ringmaster::ExpertsCard</name>
    <message>
        <source>Tokens for a rank&apos;s experts</source>
        <translation>Tokens für die Experten eines Ranks</translation>
    </message>
    <message>
        <source>Tokens that a rank&apos;s experts receive</source>
        <translation>Tokens, die die Experten eines Ranks erhalten</translation>
    </message>
    <message>
        <source>Legend of the tokens</source>
        <translation>Legende der Tokens</translation>
    </message>
    <message>
        <source>In one layer and micro-batch; a token counts once for each of its experts. At worst, all tokens choose experts of one rank.</source>
        <translation>In einer Schicht und einem Micro-Batch; ein Token zählt für jeden seiner Experten einmal. Im ungünstigsten Fall wählen alle Tokens Experten eines einzigen Ranks.</translation>
    </message>
    <message>
        <source>if the load is even</source>
        <translation>bei gleichmäßiger Last</translation>
    </message>
    <message>
        <source>at worst</source>
        <translation>im ungünstigsten Fall</translation>
    </message>
    <message>
        <source>%1 of %2 experts a rank</source>
        <translation>%1 von %2 Experten je Rank</translation>
    </message>
</context>
<context>
    <name>ringmaster::FetchDialog</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Each file is verified by its hash. Files that are here already are not sent; an interrupted file goes on where it stopped.</source>
        <translation>Jede Datei wird anhand ihres Hashes geprüft. Was schon hier ist, wird nicht gesendet; was abbrach, geht dort weiter, wo es endete.</translation>
    </message>
    <message>
        <source>What the run has made</source>
        <translation>Ergebnisse des Laufs</translation>
    </message>
    <message>
        <source>Connecting, logging in, asking the machine…</source>
        <translation>Verbinden, anmelden, den Rechner fragen…</translation>
    </message>
    <message>
        <source>The trained model</source>
        <translation>Das trainierte Modell</translation>
    </message>
    <message>
        <source>Checkpoint of step %1</source>
        <translation>Checkpoint von Schritt %1</translation>
    </message>
    <message>
        <source>There is nothing yet.</source>
        <translation>Noch ist nichts da.</translation>
    </message>
    <message>
        <source>No checkpoint was saved to its end, and the run has not completed.</source>
        <translation>Kein Checkpoint wurde zu Ende gespeichert, und der Lauf ist nicht abgeschlossen.</translation>
    </message>
    <message>
        <source>Comparing what is here and there…</source>
        <translation>Vergleichen, was hier und dort ist…</translation>
    </message>
    <message>
        <source>It is here.</source>
        <translation>Es ist hier.</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s), %1, of which %2 came now</source>
        <extracomment>%n is a number of files, %1 and %2 are sizes</extracomment>
        <translation>
            <numerusform>%n Datei, %1, davon kamen %2 jetzt</numerusform>
            <numerusform>%n Dateien, %1, davon kamen %2 jetzt</numerusform>
        </translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Fetch what %1 has made</source>
        <extracomment>%1 is the name of a run</extracomment>
        <translation>Ergebnisse von %1 abholen</translation>
    </message>
    <message>
        <source>Fetch</source>
        <translation>Abholen</translation>
    </message>
</context>
<context>
    <name>ringmaster::FiguresModel</name>
    <message>
        <source>Last loss</source>
        <translation>Letzter Loss</translation>
    </message>
    <message>
        <source>Best loss</source>
        <translation>Bester Loss</translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation>Loss der Auswertung</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>Schrittzeit</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>Speicherspitze</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>Dauer</translation>
    </message>
    <message>
        <source>Memory ÷ estimate</source>
        <translation>Speicher ÷ Schätzung</translation>
    </message>
    <message>
        <source>Step time ÷ estimate</source>
        <translation>Schrittzeit ÷ Schätzung</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>gleich</translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>%1 mehr</translation>
    </message>
    <message>
        <source>%1 less</source>
        <translation>%1 weniger</translation>
    </message>
    <message>
        <source>better by %1</source>
        <extracomment>%1 is a difference such as 7 % or 1.4 points</extracomment>
        <translation>um %1 besser</translation>
    </message>
    <message>
        <source>worse by %1</source>
        <extracomment>%1 is a difference such as 7 % or 1.4 points</extracomment>
        <translation>um %1 schlechter</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>Kennzahl</translation>
    </message>
    <message>
        <source>Last reward</source>
        <translation>Letzte Belohnung</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>Nicht verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>about the same</source>
        <translation>etwa gleich</translation>
    </message>
    <message>
        <source>%1 points</source>
        <extracomment>%1 is a difference of percentages: from 8 % to 6 % are 2 points</extracomment>
        <translation>%1 Prozentpunkte</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>Tokens/s</translation>
    </message>
</context>
<context>
    <name>ringmaster::FindBar</name>
    <message>
        <source>Find</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Find in the text</source>
        <translation>Im Text suchen</translation>
    </message>
    <message>
        <source>Previous (Shift+Enter)</source>
        <translation>Vorheriges (Umschalt+Eingabe)</translation>
    </message>
    <message>
        <source>Next (Enter)</source>
        <translation>Nächstes (Eingabe)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>Schließen (Esc)</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>%n gefunden</numerusform>
            <numerusform>%n gefunden</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::FollowDialog</name>
    <message>
        <source>Nothing of Ringmaster is on %1: no run was ever launched there.</source>
        <translation>Auf %1 ist nichts von Ringmaster: Dort wurde nie ein Lauf gestartet.</translation>
    </message>
    <message>
        <source>No run was launched on %1 over SSH. Those that were started on the machine itself are watched there.</source>
        <translation>Auf %1 wurde kein Lauf über SSH gestartet. Die auf dem Rechner selbst gestarteten werden dort beobachtet.</translation>
    </message>
    <message>
        <source>There is no run on %1.</source>
        <translation>Auf %1 ist kein Lauf.</translation>
    </message>
    <message>
        <source>Show its runs</source>
        <translation>Läufe zeigen</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>Folgen</translation>
    </message>
    <message>
        <source>Runs on that machine</source>
        <translation>Läufe auf diesem Rechner</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Last step</source>
        <translation>Letzter Schritt</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>Gestartet</translation>
    </message>
    <message>
        <source>Machine that the run is on</source>
        <translation>Rechner, auf dem der Lauf ist</translation>
    </message>
    <message>
        <source>A host of ~/.ssh/config, or [user@]host[:port]: one of the run&apos;s nodes, or all of them in their order with commas between them. Those alone are contacted.</source>
        <translation>Ein Host aus ~/.ssh/config oder [Benutzer@]Rechner[:Port]: einer der Knoten des Laufs, oder alle in ihrer Reihenfolge mit Kommas dazwischen. Nur diese werden angesprochen.</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>Rechner</translation>
    </message>
    <message>
        <source>Connecting, logging in, asking the machine…</source>
        <translation>Verbinden, anmelden, den Rechner fragen…</translation>
    </message>
    <message>
        <source>Nothing to follow.</source>
        <translation>Kein Lauf, dem man folgen könnte.</translation>
    </message>
    <message>
        <source>A Slurm job is followed on the machine that submitted it.</source>
        <translation>Einem Slurm-Job folgt man auf dem Rechner, der ihn eingereicht hat.</translation>
    </message>
    <message>
        <source>Looking at the run…</source>
        <translation>Den Lauf ansehen…</translation>
    </message>
    <message>
        <source>Follow a run on another machine</source>
        <translation>Einem Lauf auf einem anderen Rechner folgen</translation>
    </message>
    <message>
        <source>You can follow any run that was launched over SSH, from whatever machine. Following it starts and stops nothing. You can stop it, resume it and fetch its model from here, like a run of your own.</source>
        <translation>Sie können jedem Lauf folgen, der über SSH gestartet wurde, gleich von welchem Rechner. Das Folgen selbst startet und stoppt nichts. Der Lauf lässt sich von hier stoppen und fortsetzen, und sein Modell lässt sich abholen, wie bei einem eigenen Lauf.</translation>
    </message>
    <message>
        <source>Not read yet.</source>
        <translation>Noch nicht gelesen.</translation>
    </message>
    <message>
        <source>[user@]host[:port]</source>
        <translation>[Benutzer@]Rechner[:Port]</translation>
    </message>
</context>
<context>
    <name>ringmaster::HeatMap</name>
    <message>
        <source>Ranks over time</source>
        <translation>Ranks im Zeitverlauf</translation>
    </message>
    <message numerus="yes">
        <source>%n ranks against their median.</source>
        <translation>
            <numerusform>%n Rank gegenüber dem Median.</numerusform>
            <numerusform>%n Ranks gegenüber ihrem Median.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is slower now.</source>
        <translation>%1 ist jetzt langsamer.</translation>
    </message>
    <message>
        <source>faster</source>
        <extracomment>colours of a heat map&apos;s scale: text on its left, text on its right</extracomment>
        <translation>schneller</translation>
    </message>
    <message>
        <source>slower by a quarter or more</source>
        <translation>≥&#x202f;25&#x202f;% langsamer</translation>
    </message>
    <message>
        <source>Nothing to compare yet.</source>
        <translation>Noch nichts zu vergleichen.</translation>
    </message>
    <message>
        <source>%1: %2, %3 slower than the median</source>
        <translation>%1: %2, %3 langsamer als der Median</translation>
    </message>
    <message>
        <source>%1: %2, %3 faster than the median</source>
        <translation>%1: %2, %3 schneller als der Median</translation>
    </message>
</context>
<context>
    <name>ringmaster::HelpPage</name>
    <message>
        <source>Search help</source>
        <translation>Hilfe durchsuchen</translation>
    </message>
    <message>
        <source>Search help (%1)</source>
        <translation>Hilfe durchsuchen (%1)</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>Themen</translation>
    </message>
    <message>
        <source>Explanation</source>
        <translation>Erklärung</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>First steps</source>
        <translation>Erste Schritte</translation>
    </message>
    <message>
        <source>Figures</source>
        <translation>Kennzahlen</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>Meldungen</translation>
    </message>
</context>
<context>
    <name>ringmaster::KeysCard</name>
    <message>
        <source>Keys of the file</source>
        <translation>Schlüssel der Datei</translation>
    </message>
    <message>
        <source>Used: %1</source>
        <translation>Verwendet: %1</translation>
    </message>
    <message>
        <source>Without effect here: %1</source>
        <translation>Hier ohne Wirkung: %1</translation>
    </message>
    <message>
        <source>Not supported: %1</source>
        <translation>Nicht unterstützt: %1</translation>
    </message>
</context>
<context>
    <name>ringmaster::LaunchDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Overwrite</source>
        <translation>Überschreiben</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation>Sofort stoppen</translation>
    </message>
    <message>
        <source>Show in Monitor</source>
        <translation>In Monitor zeigen</translation>
    </message>
    <message>
        <source>calling it off</source>
        <translation>wird abgebrochen</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Add to the queue</source>
        <translation>In die Warteschlange</translation>
    </message>
    <message>
        <source>Prepare the run now; it starts there when its turn comes</source>
        <translation>Den Lauf jetzt vorbereiten; er startet dort, wenn er an der Reihe ist</translation>
    </message>
</context>
<context>
    <name>ringmaster::LaunchForm</name>
    <message>
        <source>not checked yet</source>
        <translation>noch nicht geprüft</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>Machines over SSH</source>
        <translation>Rechner über SSH</translation>
    </message>
    <message>
        <source>Prove the mesh first (preflight)</source>
        <translation>Zuerst das Mesh prüfen (Preflight)</translation>
    </message>
    <message>
        <source>The ranks are processes of this machine; they go on when the window is closed.</source>
        <translation>Die Ranks sind Prozesse dieses Rechners; sie machen weiter, wenn das Fenster geschlossen wird.</translation>
    </message>
    <message>
        <source>Machines that the ranks are spread over</source>
        <translation>Rechner, auf die die Ranks verteilt werden</translation>
    </message>
    <message>
        <source>Name and check machines…</source>
        <translation>Rechner hinzufügen und prüfen…</translation>
    </message>
    <message>
        <source>Before the first step, the run&apos;s first rows are computed as one rank would: loss and gradients have to agree, or it does not start.</source>
        <translation>Vor dem ersten Schritt werden die ersten Zeilen so gerechnet, wie ein einzelner Rank es täte: Loss und Gradienten müssen übereinstimmen, sonst startet der Lauf nicht.</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>Restarts after a failure</source>
        <translation>Neustarts nach einem Fehlschlag</translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation>Name des Laufs</translation>
    </message>
    <message>
        <source>No machine is named yet.</source>
        <translation>Noch ist kein Rechner genannt.</translation>
    </message>
    <message>
        <source>Choose the machines.</source>
        <translation>Wählen Sie die Rechner aus.</translation>
    </message>
    <message>
        <source>Submit</source>
        <translation>Einreichen</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Leave out nodes that stay away, without asking</source>
        <translation>Ausgefallene Knoten ohne Rückfrage weglassen</translation>
    </message>
    <message>
        <source>A node that does not answer for 30 s is left out where the mesh can be smaller; node 0 has to be there. The rows of a step, and with them the losses, stay the same where they can.</source>
        <translation>Ein Knoten, der 30 s lang nicht antwortet, wird weggelassen, wo das Mesh kleiner sein kann; Knoten 0 muss da sein. Die Zeilen eines Schritts, und mit ihnen die Losses, bleiben gleich, wo sie können.</translation>
    </message>
    <message>
        <source>Slurm decides: it requeues a job that it warned before its time limit. After any other end, press Resume.</source>
        <translation>Slurms eigene Regeln: Einen vorgewarnten Job reiht Slurm wieder ein; drücken Sie nach jedem anderen Ende „Fortsetzen“.</translation>
    </message>
    <message>
        <source>from the newest complete checkpoint, by this window: once it is closed the run goes on, but is not started again</source>
        <translation>vom neuesten vollständigen Checkpoint, durch dieses Fenster: Ist es zu, geht der Lauf weiter, wird aber nicht neu gestartet</translation>
    </message>
    <message>
        <source>from the newest complete checkpoint, by the agent on that machine, with this window closed too</source>
        <translation>vom neuesten vollständigen Checkpoint, durch den Agenten auf dem Rechner, auch wenn dieses Fenster zu ist</translation>
    </message>
    <message>
        <source>from the newest complete checkpoint, by the agent, with this window closed too</source>
        <translation>vom neuesten vollständigen Checkpoint, durch den Agenten, auch wenn dieses Fenster zu ist</translation>
    </message>
    <message>
        <source>A job is submitted only as it is shown: press “%1” first.</source>
        <translation>Ein Auftrag wird nur so eingereicht, wie er angezeigt wurde: Drücken Sie zuerst „%1“.</translation>
    </message>
    <message>
        <source>To add it to the queue, set the restarts to never: nothing restarts a queued run over several machines.</source>
        <translation>Stellen Sie zum Einreihen die Neustarts auf „nie“: Ein eingereihter Lauf über mehrere Rechner wird nicht neu gestartet.</translation>
    </message>
</context>
<context>
    <name>ringmaster::LengthChart</name>
    <message>
        <source>Lengths of the rows</source>
        <translation>Längen der Zeilen</translation>
    </message>
    <message>
        <source>%1 rows up to %2 tokens</source>
        <translation>%1 Zeilen bis %2 Tokens</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 Token</translation>
    </message>
    <message>
        <source>%1 rows of %2 to %3 tokens</source>
        <translation>%1 Zeilen mit %2 bis %3 Tokens</translation>
    </message>
</context>
<context>
    <name>ringmaster::LinesModel</name>
    <message>
        <source>What the plan made of it</source>
        <translation>Was der Plan daraus gemacht hat</translation>
    </message>
    <message>
        <source>As the configuration says</source>
        <translation>Wie in der Konfiguration</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
</context>
<context>
    <name>ringmaster::LogModel</name>
    <message>
        <source>warning: </source>
        <translation>Warnung: </translation>
    </message>
    <message>
        <source>error: </source>
        <translation>Fehler: </translation>
    </message>
    <message>
        <source>agent</source>
        <translation>Agent</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Von</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Was</translation>
    </message>
</context>
<context>
    <name>ringmaster::LogView</name>
    <message>
        <source>Whose log</source>
        <translation>Wessen Log</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>Log durchsuchen</translation>
    </message>
    <message>
        <source>Log of the run</source>
        <translation>Log des Laufs</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>All, by time</source>
        <translation>Alle, nach Zeit</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>Warnungen und Fehler</translation>
    </message>
    <message>
        <source>Agent</source>
        <translation>Agent</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>First error, rank %1 at %2: %3</source>
        <translation>Erster Fehler, Rank %1 um %2: %3</translation>
    </message>
</context>
<context>
    <name>ringmaster::MachineCard</name>
    <message>
        <source>Open the folder %1</source>
        <translation>Ordner %1 öffnen</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>Looking at this machine…</source>
        <translation>Rechner wird geprüft…</translation>
    </message>
    <message>
        <source>fine</source>
        <translation>in Ordnung</translation>
    </message>
    <message>
        <source>worth knowing</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>Set up LibTorch</source>
        <translation>LibTorch einrichten</translation>
    </message>
    <message>
        <source>Measure its speed</source>
        <translation>Geschwindigkeit messen</translation>
    </message>
    <message>
        <source>Takes about 20 seconds. Plan then calculates times from what was measured. Stop other computations first.</source>
        <translation>Dauert etwa 20 Sekunden. Die Seite Plan rechnet danach mit den gemessenen Werten. Beenden Sie vorher andere Berechnungen.</translation>
    </message>
</context>
<context>
    <name>ringmaster::MachineDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <extracomment>%1 is a file&apos;s name, %2 and %3 are sizes</extracomment>
        <translation>%1: %2 von %3</translation>
    </message>
    <message>
        <source>That did not work.</source>
        <translation>Das hat nicht geklappt.</translation>
    </message>
</context>
<context>
    <name>ringmaster::MainWindow</name>
    <message>
        <source>Start</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>Monitor</source>
        <translation>Monitor</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Menü</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen…</translation>
    </message>
    <message>
        <source>Attach to a run…</source>
        <translation>Mit Lauf verbinden…</translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation>Mit einem Lauf verbinden</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Erscheinungsbild</translation>
    </message>
    <message>
        <source>As the desktop</source>
        <translation>Wie der Desktop</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>About Ringmaster</source>
        <translation>Über Ringmaster</translation>
    </message>
    <message>
        <source>Ringmaster %1

Plans, launches and watches the training of language models on sequences too long for one GPU.

GPL-3.0-or-later. Built on Qt %2, LibTorch, yaml‑cpp and libssh.</source>
        <translation>Ringmaster %1

Plant, startet und überwacht das Training von Sprachmodellen auf Sequenzen, die für eine GPU zu lang sind.

GPL-3.0-or-later. Gebaut mit Qt %2, LibTorch, yaml‑cpp und libssh.</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation>Konfiguration öffnen</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>looking at this machine…</source>
        <translation>Rechner wird geprüft…</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n Kern</numerusform>
            <numerusform>%n Kerne</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation>
            <numerusform>%n GPU</numerusform>
            <numerusform>%n GPUs</numerusform>
        </translation>
    </message>
    <message>
        <source>A run is at work</source>
        <translation>Ein Lauf ist aktiv</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) are still training.</source>
        <translation>
            <numerusform>%n Lauf trainiert noch.</numerusform>
            <numerusform>%n Läufe trainieren noch.</numerusform>
        </translation>
    </message>
    <message>
        <source>Left running, the training goes on without the window. Open it again under Runs.</source>
        <translation>Das Training läuft auch ohne dieses Fenster weiter. Auf der Seite „Läufe“ können Sie den Lauf wieder öffnen.</translation>
    </message>
    <message>
        <source>Leave running</source>
        <translation>Weiterlaufen lassen</translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation>Stoppen und speichern</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Not stopped</source>
        <translation>Nicht gestoppt</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>It is being started again already.</source>
        <translation>Er wird schon neu gestartet.</translation>
    </message>
    <message>
        <source>Restarts end with this window</source>
        <translation>Neustarts enden mit diesem Fenster</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) over several nodes would not be started again after a failure.</source>
        <translation>
            <numerusform>%n Lauf über mehrere Knoten würde nach einem Fehlschlag nicht neu gestartet.</numerusform>
            <numerusform>%n Läufe über mehrere Knoten würden nach einem Fehlschlag nicht neu gestartet.</numerusform>
        </translation>
    </message>
    <message>
        <source>They go on without the window. One that fails meanwhile waits for Resume.</source>
        <translation>Sie gehen ohne das Fenster weiter. Einer, der unterdessen scheitert, wartet auf „Fortsetzen“.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>Commands…</source>
        <translation>Befehle…</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Alerts…</source>
        <translation>Warnungen…</translation>
    </message>
    <message>
        <source>Follow a run on another machine…</source>
        <translation>Einem Lauf auf einem anderen Rechner folgen…</translation>
    </message>
</context>
<context>
    <name>ringmaster::MemoryCard</name>
    <message>
        <source>weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>Optimizer</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>Arbeitspuffer</translation>
    </message>
    <message>
        <source>logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <source>communication</source>
        <translation>Kommunikation</translation>
    </message>
    <message>
        <source>runtime</source>
        <translation>Laufzeit</translation>
    </message>
    <message>
        <source>Memory of the fullest rank</source>
        <translation>Speicher des vollsten Ranks</translation>
    </message>
    <message>
        <source>Memory by component</source>
        <translation>Speicher nach Bestandteilen</translation>
    </message>
    <message>
        <source>Legend of the memory</source>
        <translation>Legende des Speichers</translation>
    </message>
    <message>
        <source>sequence_len to try</source>
        <translation>sequence_len zum Ausprobieren</translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>Erst bekannt, wenn die Probleme oben behoben sind.</translation>
    </message>
    <message>
        <source>The model&apos;s shape is not known here, so memory and time are not.</source>
        <translation>Die Form des Modells ist hier nicht bekannt, Speicher und Zeit also auch nicht.</translation>
    </message>
    <message>
        <source>Longest that fits: %1 tokens</source>
        <translation>Längste, die passt: %1 Tokens</translation>
    </message>
    <message>
        <source>No length fits with this mesh and these options.</source>
        <translation>Mit diesem Mesh und diesen Optionen passt keine Länge.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>if sequence_len were %1</source>
        <translation>bei sequence_len %1</translation>
    </message>
    <message>
        <source>low %1 · expected %2 · high %3</source>
        <translation>mindestens %1 · erwartet %2 · höchstens %3</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>Apply %1</source>
        <translation>%1 übernehmen</translation>
    </message>
    <message>
        <source>Writes into the text:</source>
        <translation>Schreibt in den Text:</translation>
    </message>
    <message>
        <source>Host memory of a node</source>
        <translation>Arbeitsspeicher eines Knotens</translation>
    </message>
    <message>
        <source>Disk of a node</source>
        <translation>Platte eines Knotens</translation>
    </message>
    <message>
        <source>offloaded</source>
        <translation>ausgelagert</translation>
    </message>
    <message>
        <source>processes</source>
        <translation>Prozesse</translation>
    </message>
    <message>
        <source>Host memory of a node: %1</source>
        <translation>Arbeitsspeicher eines Knotens: %1</translation>
    </message>
    <message>
        <source>Disk of a node: %1</source>
        <translation>Platte eines Knotens: %1</translation>
    </message>
    <message>
        <source>Up to %1 tokens with %2</source>
        <extracomment>what allows the longest sequence; %1 is a number, %2 &quot;key: value&quot; or several of them</extracomment>
        <translation>Bis zu %1 Tokens mit %2</translation>
    </message>
</context>
<context>
    <name>ringmaster::MeshView</name>
    <message>
        <source>Mesh</source>
        <translation>Mesh</translation>
    </message>
    <message numerus="yes">
        <source>%n group(s) of ranks that share a sequence</source>
        <translation>
            <numerusform>%n Gruppe von Ranks, die sich eine Sequenz teilen</numerusform>
            <numerusform>%n Gruppen von Ranks, die sich je eine Sequenz teilen</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 ranks on %2 nodes: %3, %4 ranks each</source>
        <translation>%1 Ranks auf %2 Knoten: %3, je %4 Ranks</translation>
    </message>
    <message>
        <source>node %1</source>
        <translation>Knoten %1</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>ranks %1 to %2</source>
        <translation>Ranks %1 bis %2</translation>
    </message>
    <message>
        <source>%1 on node %2: dp_replicate %3, dp_shard %4, ring %5, ulysses %6</source>
        <translation>%1 auf Knoten %2: dp_replicate %3, dp_shard %4, Ring %5, Ulysses %6</translation>
    </message>
</context>
<context>
    <name>ringmaster::MonitorPage</name>
    <message>
        <source>Monitor</source>
        <translation>Monitor</translation>
    </message>
    <message>
        <source>reading…</source>
        <translation>wird gelesen…</translation>
    </message>
    <message>
        <source>Reading the run.</source>
        <translation>Der Lauf wird gelesen.</translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation>Gespeichert: %1</translation>
    </message>
    <message>
        <source>This run cannot be shown</source>
        <translation>Dieser Lauf lässt sich nicht zeigen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n Rank</numerusform>
            <numerusform>%n Ranks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hosts</source>
        <translation>
            <numerusform>%n Host</numerusform>
            <numerusform>%n Hosts</numerusform>
        </translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>Versuch %1</translation>
    </message>
    <message>
        <source>%1 read</source>
        <translation>%1 gelesen</translation>
    </message>
    <message>
        <source>step · %1 left</source>
        <extracomment>shown under the number of steps; %1 is a duration</extracomment>
        <translation>Schritt · noch %1</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <extracomment>memory: %1 is the measured size, %2 the capacity</extracomment>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>duration · ended %1</source>
        <extracomment>caption of a duration; %1 is a time</extracomment>
        <translation>Dauer · beendet %1</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>beendet</translation>
    </message>
    <message>
        <source>last heard</source>
        <translation>letzte Daten</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) of its events make no sense and are left out.</source>
        <translation>
            <numerusform>%n Zeile seiner Ereignisse ist unlesbar und bleibt außen vor.</numerusform>
            <numerusform>%n Zeilen seiner Ereignisse sind unlesbar und bleiben außen vor.</numerusform>
        </translation>
    </message>
    <message>
        <source>Its plan cannot be read: no estimates.</source>
        <translation>Sein Plan ist nicht lesbar: keine Schätzungen.</translation>
    </message>
    <message>
        <source>Show rank %1</source>
        <translation>Rank %1 zeigen</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anzeige anhalten</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Figures (*.csv)</source>
        <translation>Werte (*.csv)</translation>
    </message>
    <message>
        <source>Export into an empty folder</source>
        <translation>In einen leeren Ordner exportieren</translation>
    </message>
    <message>
        <source>Exported: %1</source>
        <translation>Exportiert: %1</translation>
    </message>
    <message>
        <source>There are no runs yet</source>
        <translation>Noch keine Läufe</translation>
    </message>
    <message>
        <source>No run is open</source>
        <translation>Kein Lauf geöffnet</translation>
    </message>
    <message>
        <source>Here a run shows its loss, its ranks and what holds them up, while it trains and afterwards.</source>
        <translation>Hier zeigt ein Lauf seinen Loss, seine Ranks und was sie aufhält, während des Trainings und danach.</translation>
    </message>
    <message>
        <source>Choose a run</source>
        <translation>Lauf auswählen</translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation>Stoppen und speichern</translation>
    </message>
    <message>
        <source>Finish the step, save a checkpoint, end</source>
        <translation>Schritt beenden, Checkpoint speichern, aufhören</translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation>Sofort stoppen</translation>
    </message>
    <message>
        <source>End at once; what came after the last checkpoint is lost</source>
        <translation>Gleich aufhören; was nach dem letzten Checkpoint kam, geht verloren</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Go on from the newest complete checkpoint</source>
        <translation>Vom neuesten vollständigen Checkpoint weitermachen</translation>
    </message>
    <message>
        <source>All figures as CSV…</source>
        <translation>Alle Werte als CSV…</translation>
    </message>
    <message>
        <source>TensorBoard files…</source>
        <translation>TensorBoard-Dateien…</translation>
    </message>
    <message>
        <source>Merged model…</source>
        <translation>Zusammengeführtes Modell…</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Hold the charts still; the run goes on (Space)</source>
        <translation>Diagramme anhalten; der Lauf geht weiter (Leertaste)</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>Glättung</translation>
    </message>
    <message>
        <source>Moving average over the steps; what was measured stays behind it</source>
        <translation>Gleitender Mittelwert über die Schritte; das Gemessene bleibt dahinter</translation>
    </message>
    <message>
        <source>What the charts run along</source>
        <translation>Die x-Achse der Diagramme</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Logarithmic</source>
        <translation>Logarithmisch</translation>
    </message>
    <message>
        <source>Logarithmic figures; 0 and below are drawn at the foot</source>
        <translation>Werte logarithmisch; 0 und darunter liegt am Fuß</translation>
    </message>
    <message>
        <source>Follow the end</source>
        <translation>Neuesten Schritten folgen</translation>
    </message>
    <message>
        <source>Show the last steps only, and go with them</source>
        <translation>Nur die letzten Schritte zeigen und mitlaufen</translation>
    </message>
    <message>
        <source>Show all steps</source>
        <translation>Alle Schritte zeigen</translation>
    </message>
    <message>
        <source>Undo the zoom (double click in a chart)</source>
        <translation>Zoom aufheben (Doppelklick in ein Diagramm)</translation>
    </message>
    <message>
        <source>X axis</source>
        <translation>X-Achse</translation>
    </message>
    <message>
        <source>Nothing measured yet.</source>
        <translation>Noch nichts gemessen.</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Ranks</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Log</translation>
    </message>
    <message>
        <source>of all ranks by time, with the run&apos;s events</source>
        <translation>aller Ranks nach Zeit, mit den Ereignissen des Laufs</translation>
    </message>
    <message>
        <source>disconnected</source>
        <translation>nicht verbunden</translation>
    </message>
    <message>
        <source>Take out of the queue</source>
        <translation>Aus der Warteschlange nehmen</translation>
    </message>
    <message>
        <source>Not everything is heard just now.</source>
        <translation>Gerade ist nicht alles zu hören.</translation>
    </message>
    <message>
        <source>The run does not need the connection; it is tried again by itself.</source>
        <translation>Der Lauf braucht die Verbindung nicht; sie wird von selbst wieder versucht.</translation>
    </message>
    <message>
        <source>Reconnect</source>
        <translation>Neu verbinden</translation>
    </message>
    <message>
        <source>Waiting in the queue.</source>
        <translation>Wartet in der Warteschlange.</translation>
    </message>
    <message>
        <source>Not started again: %1</source>
        <translation>Nicht neu gestartet: %1</translation>
    </message>
    <message>
        <source>It failed, and is started again.</source>
        <translation>Er ist gescheitert und wird neu gestartet.</translation>
    </message>
    <message>
        <source>Leave it</source>
        <translation>So lassen</translation>
    </message>
    <message>
        <source>The trained model or a checkpoint, from the machine that it is on</source>
        <translation>Das trainierte Modell oder ein Checkpoint, von dem Rechner, auf dem es ist</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Let the trained model write, beside its base</source>
        <translation>Das trainierte Modell schreiben lassen, neben seinem Basismodell</translation>
    </message>
    <message>
        <source>queued</source>
        <extracomment>a run that waits in the queue: how long ago it came there</extracomment>
        <translation>eingereiht</translation>
    </message>
    <message>
        <source>Nothing was measured.</source>
        <translation>Nichts gemessen.</translation>
    </message>
    <message>
        <source>tokens per second at the end</source>
        <translation>Tokens je Sekunde am Ende</translation>
    </message>
    <message>
        <source>tokens per second now</source>
        <translation>Tokens je Sekunde jetzt</translation>
    </message>
    <message>
        <source>exposed communication at the end</source>
        <translation>nicht verdeckte Kommunikation am Ende</translation>
    </message>
    <message>
        <source>Mean of the last %1 steps</source>
        <translation>Mittel der letzten %1 Schritte</translation>
    </message>
    <message>
        <source>Attach to a run…</source>
        <translation>Mit Lauf verbinden…</translation>
    </message>
    <message>
        <source>The queue stands still.</source>
        <translation>Die Warteschlange steht still.</translation>
    </message>
    <message>
        <source>The process that starts its runs is not running.</source>
        <translation>Der Prozess, der ihre Läufe startet, läuft nicht.</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation>Mit einem Lauf verbinden</translation>
    </message>
    <message>
        <source>Fetch…</source>
        <translation>Abholen…</translation>
    </message>
    <message>
        <source>tokens per second at the last step</source>
        <translation>Tokens je Sekunde beim letzten Schritt</translation>
    </message>
    <message>
        <source>exposed communication, mean now</source>
        <translation>nicht verdeckte Kommunikation, Mittel jetzt</translation>
    </message>
    <message>
        <source>exposed communication at the last step</source>
        <translation>nicht verdeckte Kommunikation beim letzten Schritt</translation>
    </message>
    <message>
        <source>tensors of the fullest rank · expected %1</source>
        <translation>Tensoren des vollsten Ranks · erwartet %1</translation>
    </message>
    <message>
        <source>tensors of the fullest rank</source>
        <translation>Tensoren des vollsten Ranks</translation>
    </message>
    <message>
        <source>Mean of the ranks over the last %1 steps</source>
        <translation>Mittel der Ranks über die letzten %1 Schritte</translation>
    </message>
    <message>
        <source>click a column to sort, a row to highlight it in the charts</source>
        <translation>Klick auf eine Spalte sortiert, Klick auf eine Zeile hebt sie in den Diagrammen hervor</translation>
    </message>
</context>
<context>
    <name>ringmaster::NodeDetails</name>
    <message>
        <source>Check again</source>
        <translation>Erneut prüfen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Copy next step</source>
        <translation>Nächsten Schritt kopieren</translation>
    </message>
    <message>
        <source>Forget this target; nothing on the machine changes</source>
        <translation>Dieses Ziel vergessen; auf dem Rechner ändert sich nichts</translation>
    </message>
    <message>
        <source>checked %1</source>
        <translation>geprüft %1</translation>
    </message>
    <message>
        <source>Key, login, system, GPUs and who uses them, memory, disk, clock and LibTorch are looked at in seconds; nothing is installed.</source>
        <translation>Schlüssel, Anmeldung, System, GPUs und wer sie benutzt, Speicher, Platte, Uhr und LibTorch werden in Sekunden angesehen; installiert wird nichts.</translation>
    </message>
    <message>
        <source>%1:</source>
        <extracomment>a state, followed by what was found: &quot;Ready: 32 cores, …&quot;</extracomment>
        <translation>%1:</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Install LibTorch</source>
        <translation>LibTorch installieren</translation>
    </message>
    <message>
        <source>Send LibTorch</source>
        <translation>LibTorch senden</translation>
    </message>
    <message>
        <source>That machine downloads 2.8 GB from PyPI into a folder of ours there</source>
        <translation>Jener Rechner lädt 2,8 GB von PyPI in einen Ordner von uns dort</translation>
    </message>
    <message>
        <source>What the engine needs of this machine&apos;s LibTorch goes into a folder of ours there</source>
        <translation>Was die Engine vom LibTorch dieses Rechners braucht, kommt in einen Ordner von uns dort</translation>
    </message>
</context>
<context>
    <name>ringmaster::NodesModel</name>
    <message>
        <source>Target</source>
        <translation>Ziel</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Checked</source>
        <extracomment>column: time since the check</extracomment>
        <translation>Geprüft</translation>
    </message>
    <message>
        <source>What was found</source>
        <translation>Befund</translation>
    </message>
</context>
<context>
    <name>ringmaster::NodesPage</name>
    <message>
        <source>Check all</source>
        <translation>Alle prüfen</translation>
    </message>
    <message>
        <source>Cancel checks</source>
        <translation>Prüfungen abbrechen</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>Check every target (%1)</source>
        <translation>Jedes Ziel prüfen (%1)</translation>
    </message>
    <message>
        <source>Progress of the checks</source>
        <translation>Fortschritt der Prüfungen</translation>
    </message>
    <message>
        <source>Targets</source>
        <translation>Ziele</translation>
    </message>
    <message numerus="yes">
        <source>%n target(s)</source>
        <translation>
            <numerusform>%n Ziel</numerusform>
            <numerusform>%n Ziele</numerusform>
        </translation>
    </message>
    <message>
        <source>checked %1 of %2</source>
        <extracomment>progress of checks, such as &quot;checked 5 of 32&quot;</extracomment>
        <translation>%1 von %2 geprüft</translation>
    </message>
    <message>
        <source>Try out</source>
        <translation>Probelauf</translation>
    </message>
    <message>
        <source>Bring the engine to the machines over SSH that can train, run its self-test there and measure the links between them; the first is taken for the node of rank 0</source>
        <translation>Die Engine zu den Rechnern über SSH bringen, die trainieren können, dort ihren Selbsttest ausführen und die Verbindungen zwischen ihnen messen; der erste gilt als Knoten von Rank 0</translation>
    </message>
    <message>
        <source>No machine over SSH is ready: add one, and check it.</source>
        <translation>Noch kein Rechner über SSH ist bereit: einen hinzufügen und prüfen.</translation>
    </message>
</context>
<context>
    <name>ringmaster::NotesEditor</name>
    <message>
        <source>Tags, with commas between them</source>
        <translation>Schlagwörter, durch Kommas getrennt</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Schlagwörter</translation>
    </message>
    <message>
        <source>Notes about this run</source>
        <translation>Notizen zu diesem Lauf</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notizen</translation>
    </message>
    <message>
        <source>Not saved yet</source>
        <translation>Noch nicht gespeichert</translation>
    </message>
    <message>
        <source>Saved in notes.json</source>
        <translation>In notes.json gespeichert</translation>
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
        <translation>Ergebnisse des Sweeps</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) shown</source>
        <translation>
            <numerusform>%n Lauf gezeigt</numerusform>
            <numerusform>%n Läufe gezeigt</numerusform>
        </translation>
    </message>
    <message>
        <source>Lowest loss: %1.</source>
        <translation>Niedrigster Loss: %1.</translation>
    </message>
    <message>
        <source>Limited by %1.</source>
        <translation>Begrenzt durch %1.</translation>
    </message>
    <message>
        <source>chosen run</source>
        <translation>ausgewählter Lauf</translation>
    </message>
    <message>
        <source>not finished</source>
        <translation>nicht beendet</translation>
    </message>
</context>
<context>
    <name>ringmaster::PlanBoard</name>
    <message>
        <source>Mesh</source>
        <translation>Mesh</translation>
    </message>
    <message>
        <source>Who holds which tokens</source>
        <translation>Tokens der Ranks</translation>
    </message>
    <message>
        <source>A step</source>
        <translation>Ein Schritt</translation>
    </message>
    <message>
        <source>Time of a step</source>
        <translation>Zeit eines Schritts</translation>
    </message>
    <message>
        <source>Legend of the time</source>
        <translation>Legende der Zeit</translation>
    </message>
    <message>
        <source>The product of the sizes is not the number of ranks.</source>
        <translation>Das Produkt der Größen ist nicht die Zahl der Ranks.</translation>
    </message>
    <message>
        <source>rings cross nodes</source>
        <translation>Ringe reichen über Knoten hinweg</translation>
    </message>
    <message>
        <source>the busiest rank works %1 × the mean</source>
        <translation>Arbeit ≤ %1 × Mittel</translation>
    </message>
    <message>
        <source>equal work</source>
        <translation>gleiche Arbeit</translation>
    </message>
    <message>
        <source>The time of a step is not known.</source>
        <translation>Die Zeit eines Schritts ist nicht bekannt.</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>Rechnen</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>nicht verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>waiting for offloaded data</source>
        <translation>Warten auf ausgelagerte Daten</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 Tokens/s</translation>
    </message>
    <message>
        <source>From measured speeds.</source>
        <translation>Aus gemessenen Geschwindigkeiten.</translation>
    </message>
    <message>
        <source>From assumed speeds, until they are measured.</source>
        <translation>Aus angenommenen Geschwindigkeiten, bis gemessene vorliegen.</translation>
    </message>
    <message>
        <source>Computation hides another %1 of communication.</source>
        <translation>Weitere %1 Kommunikation werden vom Rechnen verdeckt.</translation>
    </message>
    <message>
        <source>Computation hides another %1 of copying offloaded data.</source>
        <translation>Weitere %1 zum Kopieren ausgelagerter Daten werden vom Rechnen verdeckt.</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>Wird geplant…</translation>
    </message>
    <message numerus="yes">
        <source>%n node(s) × %1</source>
        <translation>
            <numerusform>%n Knoten × %1</numerusform>
            <numerusform>%n Knoten × %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n Rank</numerusform>
            <numerusform>%n Ranks</numerusform>
        </translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>Erst bekannt, wenn die Probleme oben behoben sind.</translation>
    </message>
</context>
<context>
    <name>ringmaster::PlanPage</name>
    <message>
        <source>Make it run…</source>
        <translation>Lauffähig machen…</translation>
    </message>
    <message>
        <source>Show what would have to change in the file</source>
        <translation>Zeigen, was sich in der Datei ändern müsste</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Save as…</source>
        <translation>Speichern als…</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>No configuration is open</source>
        <translation>Keine Konfiguration geöffnet</translation>
    </message>
    <message>
        <source>Open an axolotl YAML or drop it here. You see what it means on your GPUs before anything runs.</source>
        <translation>Öffnen Sie ein axolotl-YAML, oder ziehen Sie es hierher. Sie sehen, was es auf den GPUs bedeutet, bevor etwas läuft.</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen…</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>Beispiel ausprobieren</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>Konfiguration</translation>
    </message>
    <message>
        <source>Save under another name</source>
        <translation>Unter anderem Namen speichern</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Save the configuration</source>
        <translation>Konfiguration speichern</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Edits are not saved</source>
        <translation>Ungespeicherte Änderungen</translation>
    </message>
    <message>
        <source>Save the changes to %1?</source>
        <translation>Änderungen an %1 speichern?</translation>
    </message>
    <message>
        <source>the unsaved copy</source>
        <translation>ungespeicherte Kopie</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>The edits are saved before the launch.</source>
        <translation>Die Änderungen werden vor dem Start gespeichert.</translation>
    </message>
    <message>
        <source>Save and launch</source>
        <translation>Speichern und starten</translation>
    </message>
    <message>
        <source>The file has changed on the disk.</source>
        <translation>Die Datei wurde auf der Platte geändert.</translation>
    </message>
    <message>
        <source>Reloading replaces your edits; undo brings them back.</source>
        <translation>Neu laden ersetzt die Änderungen; Rückgängig holt sie wieder.</translation>
    </message>
    <message>
        <source>Reload</source>
        <translation>Neu laden</translation>
    </message>
    <message>
        <source>Unsaved edits could not be kept: %1</source>
        <translation>Ungespeicherte Änderungen ließen sich nicht speichern: %1</translation>
    </message>
    <message>
        <source>an unsaved copy</source>
        <translation>eine ungespeicherte Kopie</translation>
    </message>
    <message>
        <source>Edits were not saved.</source>
        <translation>Änderungen waren nicht gespeichert.</translation>
    </message>
    <message>
        <source>The app ended while %1 was edited (%2).</source>
        <translation>Die App wurde beendet, während %1 bearbeitet wurde (%2).</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>Unsaved copy</source>
        <translation>Ungespeicherte Kopie</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>edited</source>
        <translation>geändert</translation>
    </message>
    <message>
        <source>Not planned yet</source>
        <translation>Noch nicht geplant</translation>
    </message>
    <message>
        <source>Launch on %1</source>
        <extracomment>%1 such as &quot;8 GPUs&quot;; &quot;elsewhere&quot;: on other machines, because this one lacks them</extracomment>
        <translation>Auf %1 starten</translation>
    </message>
    <message>
        <source>Prepare and start the training</source>
        <translation>Das Training vorbereiten und starten</translation>
    </message>
    <message>
        <source>An accelerate file alone can be planned, not launched.</source>
        <translation>Eine accelerate-Datei allein lässt sich planen, aber nicht starten.</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>Show the rows as the model sees them, before anything is trained</source>
        <translation>Die Zeilen zeigen, wie das Modell sie sieht, bevor etwas trainiert wird</translation>
    </message>
    <message>
        <source>Launch on %1 elsewhere…</source>
        <translation>Anderswo starten: %1…</translation>
    </message>
</context>
<context>
    <name>ringmaster::Plot</name>
    <message>
        <source>0 and below lie at the foot</source>
        <translation>0 und darunter liegt am Fuß</translation>
    </message>
</context>
<context>
    <name>ringmaster::PreviewPanel</name>
    <message>
        <source>Exactly what is started</source>
        <translation>Genau das wird gestartet</translation>
    </message>
    <message>
        <source>This cannot be launched.</source>
        <translation>So kann nicht gestartet werden.</translation>
    </message>
    <message>
        <source>Show again</source>
        <translation>Erneut zeigen</translation>
    </message>
    <message>
        <source>Connect and show</source>
        <translation>Verbinden und zeigen</translation>
    </message>
    <message>
        <source>The machines are asked before it can be shown.</source>
        <translation>Wird angezeigt, sobald die Rechner abgefragt sind.</translation>
    </message>
    <message>
        <source>connecting…</source>
        <translation>verbindet…</translation>
    </message>
    <message>
        <source>planning…</source>
        <translation>plant…</translation>
    </message>
    <message>
        <source>Nothing can be started yet.</source>
        <translation>Noch kann nichts gestartet werden.</translation>
    </message>
</context>
<context>
    <name>ringmaster::ProblemList</name>
    <message>
        <source>Apply</source>
        <translation>Übernehmen</translation>
    </message>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n Fehler</numerusform>
            <numerusform>%n Fehler</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n warning(s)</source>
        <translation>
            <numerusform>%n Warnung</numerusform>
            <numerusform>%n Warnungen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n note(s)</source>
        <translation>
            <numerusform>%n Info</numerusform>
            <numerusform>%n Infos</numerusform>
        </translation>
    </message>
    <message>
        <source>No problems</source>
        <translation>Keine Probleme</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Info</translation>
    </message>
    <message>
        <source>Rename to %1</source>
        <translation>In %1 umbenennen</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 entfernen</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>Probleme</translation>
    </message>
    <message>
        <source>What this code means, with an example</source>
        <translation>Was dieser Code bedeutet, mit Beispiel</translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation>Zeile %1: %2</translation>
    </message>
    <message>
        <source>Explain %1</source>
        <translation>%1 erklären</translation>
    </message>
    <message>
        <source>Changes the text; undo takes it back</source>
        <translation>Ändert den Text; lässt sich rückgängig machen</translation>
    </message>
</context>
<context>
    <name>ringmaster::PromptDialog</name>
    <message>
        <source>Log in to %1</source>
        <extracomment>%1 is a machine</extracomment>
        <translation>Anmelden bei %1</translation>
    </message>
    <message>
        <source>Asked again.</source>
        <translation>Bitte erneut eingeben.</translation>
    </message>
    <message>
        <source>The last answer was not accepted.</source>
        <translation>Die letzte Antwort wurde nicht angenommen.</translation>
    </message>
    <message>
        <source>The answer goes only to that machine. It is not stored.</source>
        <translation>Die Antwort geht nur an den Rechner. Sie wird nicht gespeichert.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Anmelden</translation>
    </message>
    <message>
        <source>Your password on %1</source>
        <translation>Ihr Passwort auf %1</translation>
    </message>
    <message>
        <source>Password of %1 on %2</source>
        <translation>Passwort von %1 auf %2</translation>
    </message>
    <message>
        <source>Passphrase of the key %1, which stays on this machine</source>
        <translation>Passphrase des Schlüssels %1; sie bleibt auf diesem Rechner</translation>
    </message>
    <message>
        <source>%1 asks, in its own words:</source>
        <translation>%1 fragt, in eigenen Worten:</translation>
    </message>
    <message>
        <source>Answer to %1</source>
        <translation>Antwort an %1</translation>
    </message>
</context>
<context>
    <name>ringmaster::PublishDialog</name>
    <message>
        <source>Private</source>
        <translation>Privat</translation>
    </message>
    <message>
        <source>Upload to the Hugging Face hub</source>
        <translation>Auf den Hugging Face Hub hochladen</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>Repository</translation>
    </message>
    <message>
        <source>owner/%1</source>
        <translation>Besitzer/%1</translation>
    </message>
    <message>
        <source>A repository that is made is private</source>
        <translation>Ein neues Repository ist privat</translation>
    </message>
    <message>
        <source>The hub&apos;s own client uploads the model&apos;s folder, with your login. A card goes with it: figures, loss, data, proof and configuration, without secrets. An existing README.md is kept.</source>
        <translation>Die CLI des Hugging Face Hub lädt den Ordner des Modells mit Ihrer Anmeldung hoch. Eine Model Card kommt dazu: Zahlen, Loss, Daten, Ergebnis der Mesh-Prüfung und Konfiguration, ohne Zugangsdaten. Eine vorhandene README.md bleibt.</translation>
    </message>
    <message>
        <source>The hub&apos;s own client uploads the folder, with your login.</source>
        <translation>Die CLI des Hugging Face Hub lädt den Ordner mit Ihrer Anmeldung hoch.</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>Hochladen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Name a repository to upload to: owner/name.</source>
        <translation>Nennen Sie das Repository, in das hochgeladen wird: Besitzer/Name.</translation>
    </message>
</context>
<context>
    <name>ringmaster::QueueDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Add to the queue</source>
        <translation>In die Warteschlange</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>Konfiguration</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>the file&apos;s name and the date</source>
        <translation>Name der Datei und Datum</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>Sweep</translation>
    </message>
    <message>
        <source>The configuration and its rows are kept as they are now. With a key and its values on each line of the sweep, one run is queued for each combination.</source>
        <translation>Konfiguration und Zeilen bleiben, wie sie jetzt sind. Der Sweep nennt je Zeile einen Schlüssel und seine Werte; für jede Kombination wird ein Lauf eingereiht.</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Auswählen…</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>Choose a configuration</source>
        <translation>Konfiguration auswählen</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>Planning the runs</source>
        <translation>Die Läufe werden geplant</translation>
    </message>
    <message>
        <source>It was not queued.</source>
        <translation>Nicht eingereiht.</translation>
    </message>
    <message>
        <source>The line “%1” of the sweep cannot be used.</source>
        <translation>Die Zeile „%1“ des Sweeps ist nicht verwendbar.</translation>
    </message>
    <message>
        <source>Write a key and its values, such as %1.</source>
        <translation>Schreiben Sie einen Schlüssel und seine Werte, etwa %1.</translation>
    </message>
    <message>
        <source>Choose a configuration to add it.</source>
        <translation>Wählen Sie eine Konfiguration zum Einreihen.</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n Lauf</numerusform>
            <numerusform>%n Läufe</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::QueuePage</name>
    <message>
        <source>Add…</source>
        <translation>Hinzufügen…</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Nach oben</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>Nach unten</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Open in Monitor</source>
        <translation>Im Monitor öffnen</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Warteschlange</translation>
    </message>
    <message>
        <source>Queue a configuration, or a sweep of it</source>
        <translation>Eine Konfiguration einreihen, oder einen Sweep davon</translation>
    </message>
    <message>
        <source>Nothing is queued</source>
        <translation>Die Warteschlange ist leer</translation>
    </message>
    <message>
        <source>Runs wait here for their turn and start by themselves, one after the other, even when this window is closed.</source>
        <translation>Hier warten Läufe, bis sie an der Reihe sind. Sie starten von selbst, einer nach dem anderen, auch wenn dieses Fenster geschlossen ist.</translation>
    </message>
    <message>
        <source>Add a configuration…</source>
        <translation>Konfiguration hinzufügen…</translation>
    </message>
    <message>
        <source>Move the run to an earlier place (Alt and the up arrow, or drag it)</source>
        <translation>Den Lauf nach vorn rücken (Alt und Pfeil nach oben, oder ziehen)</translation>
    </message>
    <message>
        <source>Move the run to a later place (Alt and the down arrow, or drag it)</source>
        <translation>Den Lauf nach hinten rücken (Alt und Pfeil nach unten, oder ziehen)</translation>
    </message>
    <message>
        <source>Take the run off the queue; its directory stays (Delete)</source>
        <translation>Den Lauf aus der Warteschlange nehmen; sein Ordner bleibt (Entf)</translation>
    </message>
    <message>
        <source>Runs at a time</source>
        <translation>Läufe gleichzeitig</translation>
    </message>
    <message>
        <source>How many runs may train at the same time; a run on GPUs always has the machine to itself</source>
        <translation>Wie viele Läufe gleichzeitig trainieren dürfen; ein Lauf auf GPUs hat den Rechner immer für sich</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>Reihenfolge</translation>
    </message>
    <message>
        <source>drag a row to another place; a sweep&apos;s keys have columns of their own</source>
        <translation>ziehen Sie eine Zeile an eine andere Stelle; die Schlüssel eines Sweeps haben eigene Spalten</translation>
    </message>
    <message>
        <source>The queue cannot be read.</source>
        <translation>Die Warteschlange ist nicht lesbar.</translation>
    </message>
    <message>
        <source>Results of the sweep</source>
        <translation>Ergebnisse des Sweeps</translation>
    </message>
    <message>
        <source>a line for each run; drag along an axis to keep only some</source>
        <translation>eine Linie für jeden Lauf; ziehen Sie entlang einer Achse, um nur einige zu behalten</translation>
    </message>
    <message>
        <source>The queue stands still.</source>
        <translation>Die Warteschlange steht still.</translation>
    </message>
    <message>
        <source>The process that starts its runs is not running.</source>
        <translation>Der Prozess, der ihre Läufe startet, läuft nicht.</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Starten</translation>
    </message>
    <message>
        <source>the next one is being started</source>
        <translation>der nächste wird gestartet</translation>
    </message>
    <message>
        <source>%1 running</source>
        <translation>%1 laufend</translation>
    </message>
    <message>
        <source>%1 waiting</source>
        <translation>%1 wartend</translation>
    </message>
</context>
<context>
    <name>ringmaster::QueueTable</name>
    <message>
        <source>Runs of the queue, in their order</source>
        <translation>Läufe der Warteschlange, in ihrer Reihenfolge</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>here</source>
        <extracomment>where a run of the queue trains: on this machine</extracomment>
        <translation>hier</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Wo</translation>
    </message>
</context>
<context>
    <name>ringmaster::RankTableModel</name>
    <message>
        <source>%1 at the peak; the plan expects %2</source>
        <translation>%1 an der Spitze; der Plan erwartet %2</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Host</source>
        <translation>Host</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Mesh</source>
        <extracomment>column: a rank&apos;s coordinates in the mesh</extracomment>
        <translation>Mesh</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Step time</source>
        <extracomment>column: seconds per step</extracomment>
        <translation>Schrittzeit</translation>
    </message>
    <message>
        <source>Wait</source>
        <extracomment>column: time per step in which the rank waits for others</extracomment>
        <translation>Warten</translation>
    </message>
    <message>
        <source>Comm.</source>
        <extracomment>column: communication time per step</extracomment>
        <translation>Komm.</translation>
    </message>
    <message>
        <source>Exposed</source>
        <extracomment>column: communication that computation does not hide, as a share of the step</extracomment>
        <translation>Nicht verdeckt</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Heard</source>
        <extracomment>column: time since the rank last wrote something</extracomment>
        <translation>Zuletzt</translation>
    </message>
    <message>
        <source>Number of the rank</source>
        <translation>Nummer des Ranks</translation>
    </message>
    <message>
        <source>Host it runs on</source>
        <translation>Host, auf dem er läuft</translation>
    </message>
    <message>
        <source>Device it trains on</source>
        <translation>Gerät, auf dem er trainiert</translation>
    </message>
    <message>
        <source>Its place in the mesh</source>
        <translation>Sein Platz im Mesh</translation>
    </message>
    <message>
        <source>Last step that it finished</source>
        <translation>Letzter beendeter Schritt</translation>
    </message>
    <message>
        <source>Mean loss over its own labels</source>
        <translation>Mittlerer Loss über seine eigenen Labels</translation>
    </message>
    <message>
        <source>Time of a step, median of the last 10</source>
        <translation>Zeit eines Schritts, Median der letzten 10</translation>
    </message>
    <message>
        <source>Exposed communication of a step: it waits for others, or for the network</source>
        <translation>Nicht verdeckte Kommunikation eines Schritts: Er wartet auf andere oder auf das Netz</translation>
    </message>
    <message>
        <source>Time in which its collectives were in flight</source>
        <translation>Zeit, in der seine kollektiven Operationen unterwegs waren</translation>
    </message>
    <message>
        <source>Exposed communication as a share of the step</source>
        <translation>Nicht verdeckte Kommunikation als Anteil des Schritts</translation>
    </message>
    <message>
        <source>Tensors at the highest peak of its steps</source>
        <translation>Tensoren an der höchsten Spitze seiner Schritte</translation>
    </message>
    <message>
        <source>When something was last heard of it</source>
        <translation>Letztes Lebenszeichen</translation>
    </message>
    <message>
        <source>replica %1</source>
        <extracomment>position of a rank among the groups that each hold a copy of the weights</extracomment>
        <translation>Replikat %1</translation>
    </message>
    <message>
        <source>shard %1</source>
        <extracomment>position of a rank among those that each hold a part of the weights</extracomment>
        <translation>Shard %1</translation>
    </message>
    <message>
        <source>ring %1</source>
        <extracomment>position of a rank in the ring that passes keys and values round</extracomment>
        <translation>Ring %1</translation>
    </message>
    <message>
        <source>ulysses %1</source>
        <extracomment>position of a rank among those that split the heads; Ulysses is a name</extracomment>
        <translation>Ulysses %1</translation>
    </message>
    <message>
        <source>data parallel %1</source>
        <extracomment>position of a rank among those that each hold all weights</extracomment>
        <translation>DP %1</translation>
    </message>
</context>
<context>
    <name>ringmaster::RecentRunsModel</name>
    <message>
        <source>waiting for %1</source>
        <extracomment>a run waits in the queue; %1 is a duration</extracomment>
        <translation>wartet seit %1</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>Loss %1</translation>
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
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>Row %1 of %2</source>
        <translation>Zeile %1 von %2</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Row</source>
        <translation>Zeile</translation>
    </message>
</context>
<context>
    <name>ringmaster::RowText</name>
    <message>
        <source>Chosen</source>
        <extracomment>the better one of two answers to a question, which is trained to become more likely</extracomment>
        <translation>Bevorzugt</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source>Text of the chosen row</source>
        <translation>Text der gewählten Zeile</translation>
    </message>
    <message>
        <source>… and %1 more tokens</source>
        <translation>… und %1 weitere Tokens</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunActions</name>
    <message numerus="yes">
        <source>%1 with %n checkpoint(s)</source>
        <extracomment>%1 is a size such as 12 GiB</extracomment>
        <translation>
            <numerusform>%1 mit %n Checkpoint</numerusform>
            <numerusform>%1 mit %n Checkpoints</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is not there any more.</source>
        <translation>%1 gibt es nicht mehr.</translation>
    </message>
    <message>
        <source>No program here opens folders: %1</source>
        <translation>Kein Programm hier öffnet Ordner: %1</translation>
    </message>
    <message>
        <source>Save diagnostics</source>
        <translation>Diagnose speichern</translation>
    </message>
    <message>
        <source>Archive (*.tar.gz)</source>
        <translation>Archiv (*.tar.gz)</translation>
    </message>
    <message>
        <source>Export as CSV</source>
        <translation>Als CSV exportieren</translation>
    </message>
    <message>
        <source>Table (*.csv)</source>
        <translation>Tabelle (*.csv)</translation>
    </message>
    <message>
        <source>Export for TensorBoard, into a new folder</source>
        <translation>Für TensorBoard in einen neuen Ordner exportieren</translation>
    </message>
    <message>
        <source>Saved %1. Look through it before you pass it on.</source>
        <translation>%1 gespeichert. Sehen Sie die Datei durch, bevor Sie sie weitergeben.</translation>
    </message>
    <message>
        <source>Saved %1: %2 rows.</source>
        <translation>%1 gespeichert: %2 Zeilen.</translation>
    </message>
    <message>
        <source>Saved %1: %2 values.</source>
        <translation>%1 gespeichert: %2 Werte.</translation>
    </message>
    <message>
        <source>Delete runs</source>
        <translation>Läufe löschen</translation>
    </message>
    <message numerus="yes">
        <source>Delete %n run(s)?</source>
        <translation>
            <numerusform>%n Lauf löschen?</numerusform>
            <numerusform>%n Läufe löschen?</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>Deleted %1.</source>
        <translation>%1 gelöscht.</translation>
    </message>
    <message numerus="yes">
        <source>Deleted %n run(s).</source>
        <translation>
            <numerusform>%n Lauf gelöscht.</numerusform>
            <numerusform>%n Läufe gelöscht.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Lost for good: %1, the curves, logs and notes. The trained model(s) in the output folder(s) stay.</source>
        <translation>
            <numerusform>Endgültig verloren: %1, die Kurven, Logs und Notizen. Das trainierte Modell im Ausgabeordner bleibt.</numerusform>
            <numerusform>Endgültig verloren: %1, die Kurven, Logs und Notizen. Die trainierten Modelle in den Ausgabeordnern bleiben.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ringmaster::RunKeeper</name>
    <message>
        <source>it was called off</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>restart %1 of %2</source>
        <extracomment>a run that failed is restarted; %1 and %2 are numbers</extracomment>
        <translation>Neustart %1 von %2</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsModel</name>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Best loss</source>
        <translation>Bester Loss</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>Tokens/s</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>Speicherspitze</translation>
    </message>
    <message>
        <source>Estimated</source>
        <translation>Geschätzt</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Mesh</source>
        <translation>Mesh</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>Batch</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>Dauer</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>Gestartet</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Schlagwörter</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Completed optimizer steps, and how many there will be</source>
        <translation>Beendete Optimizer-Schritte und wie viele es werden</translation>
    </message>
    <message>
        <source>Loss of the last step, over the whole global batch</source>
        <translation>Loss des letzten Schritts über den ganzen globalen Batch</translation>
    </message>
    <message>
        <source>Lowest loss of a step; in a long run the lowest of those looked at</source>
        <translation>Kleinster Loss eines Schritts; bei langen Läufen unter den betrachteten Schritten</translation>
    </message>
    <message>
        <source>Tokens per second over the steps looked at, saving and evaluation not counted</source>
        <translation>Tokens je Sekunde über die betrachteten Schritte, ohne Speichern und Auswerten</translation>
    </message>
    <message>
        <source>Highest memory among the steps looked at, on the fullest rank</source>
        <translation>Höchster Speicher der betrachteten Schritte, auf dem vollsten Rank</translation>
    </message>
    <message>
        <source>How the ranks are arranged</source>
        <translation>Wie die Ranks gruppiert sind</translation>
    </message>
    <message>
        <source>Tokens of one sequence</source>
        <translation>Tokens einer Sequenz</translation>
    </message>
    <message>
        <source>Rows of one optimizer step, over all ranks</source>
        <translation>Zeilen eines Optimizer-Schritts über alle Ranks</translation>
    </message>
    <message>
        <source>The run is long: the lowest of the steps looked at</source>
        <translation>Der Lauf ist lang: der kleinste unter den betrachteten Schritten</translation>
    </message>
    <message>
        <source>Tensors of the fullest rank as the plan expected them, without what the runtime takes</source>
        <translation>Tensoren des vollsten Ranks laut Plan, ohne den Bedarf der Laufzeitumgebung</translation>
    </message>
    <message>
        <source>How long its attempts ran, all together</source>
        <translation>Wie lange alle Versuche zusammen liefen</translation>
    </message>
    <message>
        <source>Exposed</source>
        <translation>Nicht verdeckt</translation>
    </message>
    <message>
        <source>Exposed communication: the share of a step that computation did not hide. Mean of the ranks; in a long run, over their last steps</source>
        <translation>Nicht verdeckte Kommunikation: der Anteil eines Schritts, den die Rechnung nicht verdeckt. Mittel der Ranks; bei einem langen Lauf über ihre letzten Schritte</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsPage</name>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>No runs yet</source>
        <translation>Noch keine Läufe</translation>
    </message>
    <message>
        <source>What you launch appears here with what mattered: loss, tokens per second, memory and why it ended.</source>
        <translation>Gestartete Läufe erscheinen hier mit dem, was wichtig war: Loss, Tokens je Sekunde, Speicher und warum sie endeten.</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>Beispiel ausprobieren</translation>
    </message>
    <message>
        <source>Open a configuration…</source>
        <translation>Konfiguration öffnen…</translation>
    </message>
    <message>
        <source>No run matches</source>
        <translation>Kein Lauf entspricht der Suche</translation>
    </message>
    <message>
        <source>Looked for in names, models, states, tags, notes and reasons.</source>
        <translation>Gesucht in Namen, Modellen, Zuständen, Schlagwörtern, Notizen und Gründen.</translation>
    </message>
    <message>
        <source>Show all runs</source>
        <translation>Alle Läufe zeigen</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search the runs</source>
        <translation>Läufe durchsuchen</translation>
    </message>
    <message>
        <source>Search the runs (%1)</source>
        <translation>Läufe durchsuchen (%1)</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>Spalten</translation>
    </message>
    <message>
        <source>Choose columns</source>
        <translation>Spalten auswählen</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n Lauf</numerusform>
            <numerusform>%n Läufe</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2 found</source>
        <translation>%1 von %2 gefunden</translation>
    </message>
    <message numerus="yes">
        <source>Compare %n run(s)</source>
        <translation>
            <numerusform>%n Lauf vergleichen</numerusform>
            <numerusform>%n Läufe vergleichen</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose two to eight runs: Ctrl or Shift and a click, or Shift and an arrow key</source>
        <translation>Wählen Sie zwei bis acht Läufe aus: Klick mit Strg oder Umschalt, oder Umschalt und Pfeiltaste</translation>
    </message>
    <message>
        <source>That did not work.</source>
        <translation>Das hat nicht geklappt.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>From another machine…</source>
        <translation>Von anderem Rechner…</translation>
    </message>
    <message>
        <source>Follow a run on another machine…</source>
        <translation>Einem Lauf auf einem anderen Rechner folgen…</translation>
    </message>
    <message>
        <source>%1 running</source>
        <translation>%1 laufend</translation>
    </message>
</context>
<context>
    <name>ringmaster::RunsTable</name>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
</context>
<context>
    <name>ringmaster::SamplesCard</name>
    <message>
        <source>no sample</source>
        <translation>kein Beispiel</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>Beispiele</translation>
    </message>
    <message>
        <source>Step of the samples on the left</source>
        <translation>Schritt der Beispiele links</translation>
    </message>
    <message>
        <source>Step of the samples on the right</source>
        <translation>Schritt der Beispiele rechts</translation>
    </message>
    <message>
        <source>Show the samples of another step</source>
        <translation>Die Beispiele eines anderen Schritts zeigen</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>after step %1</source>
        <translation>nach Schritt %1</translation>
    </message>
    <message>
        <source>Write now</source>
        <translation>Jetzt schreiben</translation>
    </message>
    <message>
        <source>what the model writes while it trains</source>
        <translation>was das Modell während des Trainings schreibt</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>A prompt that the model continues after its present step</source>
        <translation>Ein Prompt, den das Modell nach dem laufenden Schritt fortsetzt</translation>
    </message>
    <message>
        <source>Asked. The run answers after its present step.</source>
        <translation>Gefragt. Der Lauf antwortet nach seinem laufenden Schritt.</translation>
    </message>
    <message>
        <source>cut at the token limit</source>
        <translation>an der Token-Grenze abgeschnitten</translation>
    </message>
    <message>
        <source>No samples yet. Type a prompt below, or name some in the configuration under sample_prompts.</source>
        <translation>Noch keine Beispiele. Geben Sie unten einen Prompt ein, oder nennen Sie in der Konfiguration Prompts unter sample_prompts.</translation>
    </message>
</context>
<context>
    <name>ringmaster::SequenceView</name>
    <message>
        <source>every rank holds whole sequences</source>
        <translation>jeder Rank hat ganze Sequenzen</translation>
    </message>
    <message>
        <source>Who holds which tokens</source>
        <translation>Tokens der Ranks</translation>
    </message>
    <message>
        <source>Nothing is planned yet</source>
        <translation>Noch nichts geplant</translation>
    </message>
    <message>
        <source>The length of a sequence is not known.</source>
        <translation>Die Länge einer Sequenz ist nicht bekannt.</translation>
    </message>
    <message>
        <source>Where the tokens lie depends on the documents of each row.</source>
        <translation>Wo die Tokens liegen, hängt von den Dokumenten jeder Zeile ab.</translation>
    </message>
    <message>
        <source>rank %1: %2 of the busiest rank&apos;s attention work</source>
        <translation>Rank %1: %2 der größten Attention-Arbeit eines Ranks</translation>
    </message>
    <message>
        <source>attention work of each rank</source>
        <translation>Attention-Arbeit je Rank</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>token %1: rank %2, which holds %3 tokens</source>
        <translation>Token %1: Rank %2, der %3 Tokens hält</translation>
    </message>
    <message>
        <source>Not known until the problems above are solved.</source>
        <translation>Erst bekannt, wenn die Probleme oben behoben sind.</translation>
    </message>
</context>
<context>
    <name>ringmaster::ServiceSwitch</name>
    <message>
        <source>Go on by itself after a restart of the machine</source>
        <translation>Nach einem Neustart des Rechners von selbst fortfahren</translation>
    </message>
    <message>
        <source>A user service of systemd; in a terminal: %1</source>
        <translation>Ein Benutzerdienst von systemd; im Terminal: %1</translation>
    </message>
    <message>
        <source>The service begins when you log in, and runs that it has started end when you log out. To start it at boot and keep its runs: %1</source>
        <translation>Der Dienst beginnt bei der Anmeldung, und Läufe, die er gestartet hat, enden bei der Abmeldung. Damit er beim Start des Rechners beginnt und seine Läufe weiterlaufen: %1</translation>
    </message>
    <message>
        <source>The service could not be switched on.</source>
        <translation>Der Dienst ließ sich nicht einschalten.</translation>
    </message>
    <message>
        <source>The service could not be switched off.</source>
        <translation>Der Dienst ließ sich nicht ausschalten.</translation>
    </message>
    <message>
        <source>Nothing was changed. After a restart of the machine, open Ringmaster once: the queue then goes on.</source>
        <translation>Nichts wurde geändert. Öffnen Sie nach einem Neustart des Rechners Ringmaster einmal: Dann geht die Warteschlange weiter.</translation>
    </message>
</context>
<context>
    <name>ringmaster::SlurmFields</name>
    <message>
        <source>on this machine</source>
        <translation>auf diesem Rechner</translation>
    </message>
    <message>
        <source>through %1</source>
        <translation>über %1</translation>
    </message>
    <message>
        <source>the cluster&apos;s default</source>
        <translation>Vorgabe des Clusters</translation>
    </message>
    <message>
        <source>as planned</source>
        <translation>wie geplant</translation>
    </message>
    <message>
        <source>Submitted</source>
        <translation>Einreichen</translation>
    </message>
    <message>
        <source>Partition</source>
        <translation>Partition</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>Account</source>
        <translation>Account</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>GPUs of a node (gres)</source>
        <translation>GPUs je Knoten (gres)</translation>
    </message>
    <message>
        <source>More sbatch options, one a line</source>
        <translation>Weitere sbatch-Optionen, eine je Zeile</translation>
    </message>
    <message>
        <source>Any other long option of sbatch, key=value, one a line</source>
        <translation>Jede andere lange Option von sbatch, key=value, eine je Zeile</translation>
    </message>
    <message>
        <source>your default account</source>
        <translation>Ihr Standard-Account</translation>
    </message>
</context>
<context>
    <name>ringmaster::StartPage</name>
    <message>
        <source>No runs yet. What you launch appears here, and stays when the window is closed.</source>
        <translation>Noch keine Läufe. Gestartete Läufe erscheinen hier und bleiben, auch wenn das Fenster geschlossen wird.</translation>
    </message>
    <message>
        <source>No file yet. Configurations that you open are listed here.</source>
        <translation>Noch keine Dateien. Geöffnete Konfigurationen stehen dann hier.</translation>
    </message>
    <message>
        <source>Drop a configuration (YAML) to plan it, or a run&apos;s folder to watch it.</source>
        <translation>Ziehen Sie eine Konfiguration (YAML) hierher, um sie zu planen, oder den Ordner eines Laufs, um ihn zu beobachten.</translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation>Konfiguration öffnen</translation>
    </message>
    <message>
        <source>An axolotl YAML: see what it needs before anything runs. Or drop the file here.</source>
        <translation>Ein axolotl-YAML: Sie sehen, was es braucht, bevor etwas läuft. Oder ziehen Sie die Datei hierher.</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>Beispiel ausprobieren</translation>
    </message>
    <message>
        <source>A small model that learns to write Python, on this machine, in minutes.</source>
        <translation>Ein kleines Modell lernt in wenigen Minuten auf diesem Rechner, Python zu schreiben.</translation>
    </message>
    <message>
        <source>Attach to a run</source>
        <translation>Mit einem Lauf verbinden</translation>
    </message>
    <message>
        <source>Watch one that is at work, or look through one that is over.</source>
        <translation>Beobachten Sie einen laufenden, oder sehen Sie einen beendeten durch.</translation>
    </message>
    <message>
        <source>Recent runs</source>
        <translation>Letzte Läufe</translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation>Letzte Dateien</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>%1 öffnen</translation>
    </message>
    <message>
        <source>%1 is not a run&apos;s folder: it has no run.json.</source>
        <translation>%1 ist kein Ordner eines Laufs: run.json fehlt.</translation>
    </message>
</context>
<context>
    <name>ringmaster::StartedRun</name>
    <message>
        <source>ranks</source>
        <translation>Ranks</translation>
    </message>
    <message>
        <source>The ranks&apos; logs are in Monitor.</source>
        <translation>Die Logs der Ranks stehen in Monitor.</translation>
    </message>
</context>
<context>
    <name>ringmaster::Stepper</name>
    <message>
        <source>%1: done</source>
        <translation>%1: fertig</translation>
    </message>
    <message>
        <source>%1: failed</source>
        <translation>%1: fehlgeschlagen</translation>
    </message>
    <message>
        <source>%1: at work</source>
        <translation>%1: in Arbeit</translation>
    </message>
    <message>
        <source>%1: still to come</source>
        <translation>%1: steht noch aus</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <extracomment>progress of a step: %1 is the step, %2 the part done, %3 the whole</extracomment>
        <translation>%1: %2 von %3</translation>
    </message>
</context>
<context>
    <name>ringmaster::TopologyBar</name>
    <message>
        <source>Ranks in total, one for each GPU</source>
        <translation>Ranks insgesamt, einer je GPU</translation>
    </message>
    <message>
        <source>Machines that the ranks are spread over</source>
        <translation>Rechner, auf die sich die Ranks verteilen</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>auto</translation>
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
        <translation>Worauf die Ranks laufen</translation>
    </message>
    <message>
        <source>Memory of one device</source>
        <translation>Speicher eines Geräts</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>Ranks</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Device memory</source>
        <translation>Gerätespeicher</translation>
    </message>
    <message>
        <source>accelerate file</source>
        <translation>accelerate-Datei</translation>
    </message>
    <message>
        <source>auto (%1)</source>
        <extracomment>the program&apos;s automatic choice and its result, such as &quot;auto (8)&quot;</extracomment>
        <translation>auto (%1)</translation>
    </message>
    <message>
        <source>None…</source>
        <translation>Keine…</translation>
    </message>
    <message>
        <source>Take parallel sizes from an accelerate YAML</source>
        <translation>Parallele Größen aus einem accelerate-YAML nehmen</translation>
    </message>
    <message>
        <source>%1 overrides the sizes of the text. Press to leave it out.</source>
        <translation>%1 hat Vorrang vor den Größen im Text. Drücken Sie hier, um die Datei wegzulassen.</translation>
    </message>
    <message>
        <source>Open an accelerate file</source>
        <translation>accelerate-Datei öffnen</translation>
    </message>
    <message>
        <source>YAML (*.yaml *.yml)</source>
        <translation>YAML (*.yaml *.yml)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
</context>
<context>
    <name>ringmaster::TrustDialog</name>
    <message>
        <source>Is this really %1?</source>
        <translation>Ist das wirklich %1?</translation>
    </message>
    <message>
        <source>It shows a host key that is not known on this machine. If the key is not its own, someone may be intercepting the connection. Nothing has been sent to it yet.</source>
        <translation>Der Rechner zeigt einen Hostschlüssel, der hier nicht bekannt ist. Gehört er nicht zu diesem Rechner, hat sich womöglich jemand in die Verbindung eingeschaltet. Gesendet wurde ihm noch nichts.</translation>
    </message>
    <message>
        <source>Fingerprint</source>
        <translation>Fingerabdruck</translation>
    </message>
    <message>
        <source>Type of key</source>
        <translation>Art des Schlüssels</translation>
    </message>
    <message>
        <source>Remembered in</source>
        <translation>Gespeichert in</translation>
    </message>
    <message>
        <source>Ask whoever runs the machine, or compare it with what this command prints there:</source>
        <translation>Fragen Sie den Betreiber des Rechners, oder vergleichen Sie den Fingerabdruck mit der Ausgabe dieses Befehls auf dem Rechner:</translation>
    </message>
    <message>
        <source>Do not trust it</source>
        <translation>Nicht vertrauen</translation>
    </message>
    <message>
        <source>Trust and remember</source>
        <translation>Vertrauen und merken</translation>
    </message>
</context>
<context>
    <name>ringmaster::TryPage</name>
    <message>
        <source>Another model</source>
        <translation>Anderes Modell</translation>
    </message>
    <message>
        <source>Merge…</source>
        <translation>Zusammenführen…</translation>
    </message>
    <message>
        <source>Show the run</source>
        <translation>Lauf zeigen</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Add the adapter to its base model&apos;s weights, and write a whole model</source>
        <translation>Den Adapter zu den Gewichten seines Basismodells addieren und ein ganzes Modell schreiben</translation>
    </message>
    <message>
        <source>No model is chosen</source>
        <translation>Kein Modell ausgewählt</translation>
    </message>
    <message>
        <source>Choose a run that has completed, or the folder of a model or an adapter. It continues your prompts here, beside its base model.</source>
        <translation>Wählen Sie einen abgeschlossenen Lauf oder den Ordner eines Modells oder Adapters. Das Modell setzt hier Ihre Prompts fort, neben seinem Basismodell.</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Modell auswählen</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>A text that the model continues, or a question</source>
        <translation>Ein Text, den das Modell fortsetzt, oder eine Frage</translation>
    </message>
    <message>
        <source>As a chat message</source>
        <translation>Als Chatnachricht</translation>
    </message>
    <message>
        <source>The chat template asks for the answer; without it, the model continues the text</source>
        <translation>Die Chatvorlage fragt nach der Antwort; ohne sie setzt das Modell den Text fort</translation>
    </message>
    <message>
        <source>Beside the base model</source>
        <translation>Mit Basismodell vergleichen</translation>
    </message>
    <message>
        <source>Generate</source>
        <translation>Erzeugen</translation>
    </message>
    <message>
        <source>Generate (%1)</source>
        <translation>Erzeugen (%1)</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stoppen</translation>
    </message>
    <message>
        <source>Max tokens</source>
        <translation>Max. Tokens</translation>
    </message>
    <message>
        <source>Ends each text there</source>
        <translation>Beendet dort jeden Text</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>0 takes the most probable token each time; higher values draw less probable ones</source>
        <translation>0 nimmt jedes Mal das wahrscheinlichste Token; höhere Werte ziehen auch weniger wahrscheinliche</translation>
    </message>
    <message>
        <source>Top k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Draws among this many most probable tokens</source>
        <translation>Zieht unter so vielen der wahrscheinlichsten Tokens</translation>
    </message>
    <message>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <source>Top p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Draws among the most probable tokens that together have this probability</source>
        <translation>Zieht unter den wahrscheinlichsten Tokens, die zusammen diese Wahrscheinlichkeit haben</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>The same seed draws the same tokens</source>
        <translation>Derselbe Seed zieht dieselben Tokens</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Where the model runs</source>
        <translation>Wo das Modell rechnet</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>Leeren</translation>
    </message>
    <message>
        <source>Remove the answers from this page</source>
        <translation>Die Antworten von dieser Seite entfernen</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>What the models write appears here, the newest first.</source>
        <translation>Hier erscheint, was die Modelle schreiben, das Neueste zuerst.</translation>
    </message>
    <message>
        <source>No run has completed yet</source>
        <translation>Noch kein Lauf ist abgeschlossen</translation>
    </message>
    <message>
        <source>A model&apos;s or an adapter&apos;s folder…</source>
        <translation>Ordner eines Modells oder Adapters…</translation>
    </message>
    <message>
        <source>Choose the folder of a model or an adapter</source>
        <translation>Ordner eines Modells oder Adapters auswählen</translation>
    </message>
    <message>
        <source>This model cannot be tried.</source>
        <translation>Dieses Modell lässt sich nicht ausprobieren.</translation>
    </message>
    <message>
        <source>The base model answers first</source>
        <translation>Das Basismodell antwortet zuerst</translation>
    </message>
    <message>
        <source>This folder names no base model to compare with</source>
        <translation>Dieser Ordner nennt kein Basismodell zum Vergleichen</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation>%1: %2 von %3</translation>
    </message>
    <message>
        <source>The merged model is in %1.</source>
        <translation>Das zusammengeführte Modell liegt in %1.</translation>
    </message>
    <message>
        <source>Try the merged model</source>
        <translation>Zusammengeführtes Modell ausprobieren</translation>
    </message>
    <message>
        <source>The model is not merged.</source>
        <translation>Das Modell ist nicht zusammengeführt.</translation>
    </message>
    <message>
        <source>Nothing was generated.</source>
        <translation>Nichts wurde erzeugt.</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>Gestoppt.</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>gestoppt</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Das Modell wird geladen</translation>
    </message>
    <message>
        <source>The base model</source>
        <translation>Das Basismodell</translation>
    </message>
    <message>
        <source>The trained model</source>
        <translation>Das trainierte Modell</translation>
    </message>
    <message numerus="yes">
        <source>%1 writes: %n token(s)</source>
        <extracomment>%1 is &quot;The base model&quot; or &quot;The trained model&quot;</extracomment>
        <translation>
            <numerusform>%1 schreibt: %n Token</numerusform>
            <numerusform>%1 schreibt: %n Tokens</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 wrote %2 tokens per second.</source>
        <translation>%1 schrieb %2 Tokens je Sekunde.</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>Write the merged model into a new folder</source>
        <translation>Das zusammengeführte Modell in einen neuen Ordner schreiben</translation>
    </message>
    <message>
        <source>Merging the adapter into its base</source>
        <translation>Der Adapter wird mit seinem Basismodell zusammengeführt</translation>
    </message>
    <message>
        <source>Base</source>
        <translation>Basismodell</translation>
    </message>
    <message>
        <source>Trained</source>
        <translation>Trainiert</translation>
    </message>
    <message>
        <source>Publish</source>
        <translation>Veröffentlichen</translation>
    </message>
    <message>
        <source>Upload to the Hugging Face hub…</source>
        <translation>Auf den Hugging Face Hub hochladen …</translation>
    </message>
    <message>
        <source>Write as GGUF…</source>
        <translation>Als GGUF schreiben …</translation>
    </message>
    <message>
        <source>One file for llama.cpp, by its own converter</source>
        <translation>Eine Datei für llama.cpp, von dessen eigenem Konverter</translation>
    </message>
    <message>
        <source>The model is not uploaded.</source>
        <translation>Das Modell ist nicht hochgeladen.</translation>
    </message>
    <message>
        <source>The model is not converted.</source>
        <translation>Das Modell ist nicht umgewandelt.</translation>
    </message>
    <message>
        <source>Uploading the model</source>
        <translation>Das Modell wird hochgeladen</translation>
    </message>
    <message>
        <source>Write the model as GGUF</source>
        <translation>Das Modell als GGUF schreiben</translation>
    </message>
    <message>
        <source>GGUF files (*.gguf)</source>
        <translation>GGUF-Dateien (*.gguf)</translation>
    </message>
    <message>
        <source>Converting the model</source>
        <translation>Das Modell wird umgewandelt</translation>
    </message>
    <message>
        <source>The model is at %1.</source>
        <translation>Das Modell ist unter %1.</translation>
    </message>
    <message>
        <source>The model is in %1.</source>
        <translation>Das Modell ist in %1.</translation>
    </message>
    <message>
        <source>Show it</source>
        <translation>Zeigen</translation>
    </message>
</context>
<context>
    <name>ringmaster::YamlEditor</name>
    <message>
        <source>Configuration text</source>
        <translation>Text der Konfiguration</translation>
    </message>
</context>
<context>
    <name>ringmaster::YamlTyping</name>
    <message>
        <source>%1 is used here.</source>
        <translation>%1 wird hier verwendet.</translation>
    </message>
    <message>
        <source>Keys that begin so</source>
        <translation>Schlüssel, die so beginnen</translation>
    </message>
    <message>
        <source>%1 has no effect here.</source>
        <translation>%1 hat hier keine Wirkung.</translation>
    </message>
    <message>
        <source>%1 is not supported here.</source>
        <translation>%1 wird hier nicht unterstützt.</translation>
    </message>
</context>
</TS>
