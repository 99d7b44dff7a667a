"""Makes certificate authorities and server certificates for tests, with openssl."""

import subprocess

CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def make_certificates(folder):
    """Creates two authorities, ca.pem and stranger.pem, and two certificates that the first one signs, each with its key: server.pem for
    127.0.0.1 and elsewhere.pem for another name."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    for name in ("ca", "stranger"):
        openssl("req", "-x509", *CURVE, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}")
    for name, alternative in (("server", "IP:127.0.0.1"), ("elsewhere", "DNS:elsewhere.example")):
        openssl("req", *CURVE, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=server")
        (folder / f"{name}.txt").write_text(f"subjectAltName={alternative}\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", f"{name}.txt",
                "-out", f"{name}.crt")
        (folder / f"{name}.pem").write_text((folder / f"{name}.key").read_text() + (folder / f"{name}.crt").read_text())
    return folder
