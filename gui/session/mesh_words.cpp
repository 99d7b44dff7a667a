#include "gui/session/mesh_words.h"

#include <QCoreApplication>
#include <QStringList>

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

struct MeshWords {
    Q_DECLARE_TR_FUNCTIONS(PlanVerdict)
};

}  // namespace

QString mesh_words(const Mesh& mesh, int zero_stage) {
    QStringList parts;
    const auto factor = [&](const QString& text, int size) {
        if (size > 1) parts << text.arg(size);
    };
    factor(u"dp_replicate %1"_s, mesh.dp_replicate);
    factor(zero_stage > 0 ? u"dp_shard %1"_s : MeshWords::tr("data parallel %1"), mesh.dp_shard);
    //: ranks of a mesh that pass keys and values round
    factor(MeshWords::tr("ring %1"), mesh.ring);
    //: ranks of a mesh that split the heads; Ulysses is a name
    factor(MeshWords::tr("ulysses %1"), mesh.ulysses);
    //: ranks of a mesh that share the experts of a layer
    const QString experts =
        mesh.expert > 1 ? u" \u00B7 "_s + MeshWords::tr("expert %1").arg(mesh.expert) : QString();
    const bool sharded = zero_stage > 0 && mesh.shards() > 1;
    const QString split = parts.isEmpty() ? MeshWords::tr("no splitting") : parts.join(u" \u00D7 "_s);
    return sharded ? split + u" \u00B7 ZeRO %1"_s.arg(zero_stage) + experts : split;
}

}  // namespace ringmaster
