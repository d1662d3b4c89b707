//! Authentication of the receiver: a self-signed certificate, pinned by its fingerprint.

use super::Error;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use quinn_proto::rustls::crypto::{self, CryptoProvider};
use quinn_proto::rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime,
};
use quinn_proto::rustls::{self, CertificateError, DigitallySignedStruct, SignatureScheme};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The application protocol in the handshake (ALPN, RFC 7301).
const ALPN: &[u8] = b"thalweg-file/1";

/// SHA-256 of a receiver's certificate, written in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    fn of(certificate: &[u8]) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest.as_ref());
        Self(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    /// 64 hexadecimal digits; colons between them are ignored.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Malformed(format!("`{text}` is no fingerprint: 64 hexadecimal digits are"));
        let mut digits = text.chars().filter(|c| *c != ':').map(|c| c.to_digit(16));
        let mut bytes = [0; 32];
        for byte in &mut bytes {
            let (high, low) = (digits.next().flatten(), digits.next().flatten());
            *byte = high.zip(low).map(|(high, low)| (high * 16 + low) as u8).ok_or_else(wrong)?;
        }
        if digits.next().is_some() { Err(wrong()) } else { Ok(Self(bytes)) }
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(crypto::ring::default_provider())
}

fn malformed(error: impl fmt::Display) -> Error {
    Error::Malformed(format!("TLS: {error}"))
}

/// A new certificate: the server configuration, and its fingerprint.
pub(super) fn server() -> Result<(quinn_proto::ServerConfig, Fingerprint), Error> {
    let made = rcgen::generate_simple_self_signed(vec!["thalweg".to_owned()]).map_err(malformed)?;
    let certificate = CertificateDer::from(made.cert.der().to_vec());
    let fingerprint = Fingerprint::of(&certificate);
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(malformed)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .map_err(malformed)?;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let quic = QuicServerConfig::try_from(tls).map_err(malformed)?;
    Ok((quinn_proto::ServerConfig::with_crypto(Arc::new(quic)), fingerprint))
}

/// A client that accepts only the server with this fingerprint.
pub(super) fn client(pinned: Fingerprint) -> Result<quinn_proto::ClientConfig, Error> {
    let provider = provider();
    let verifier = Arc::new(Pinned { pinned, provider: Arc::clone(&provider) });
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(malformed)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let quic = QuicClientConfig::try_from(tls).map_err(malformed)?;
    Ok(quinn_proto::ClientConfig::new(Arc::new(quic)))
}

/// Compares fingerprints instead of asking a certificate authority; signatures are verified as usual.
#[derive(Debug)]
struct Pinned {
    pinned: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if Fingerprint::of(certificate) == self.pinned {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_reads_back_what_it_writes_and_nothing_else() {
        let fingerprint = Fingerprint::of(b"certificate");
        let text = fingerprint.to_string();
        assert_eq!(text.parse::<Fingerprint>().unwrap(), fingerprint);
        let colons: Vec<&str> = (0..32).map(|n| &text[2 * n..2 * n + 2]).collect();
        assert_eq!(colons.join(":").to_uppercase().parse::<Fingerprint>().unwrap(), fingerprint);
        for wrong in ["", "abc", &text[1..], &format!("{text}0"), &text.replace(&text[..1], "g"), "ä"] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
    }
}
