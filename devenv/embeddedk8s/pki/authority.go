// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// authority signs certificates. Its private key is never written down: a set is made at once or not at all.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	from        time.Time
}

// leaf describes a certificate to issue.
type leaf struct {
	name, organization string
	dns                []string
	ips                []net.IP
	usage              []x509.ExtKeyUsage
}

func newAuthority(name, path string, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	// Clocks of containers and virtual machines may be a little behind.
	from := now.Add(-time.Hour)
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             from,
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{certificate: certificate, key: key, from: from}, writePEM(path, "CERTIFICATE", der)
}

func (a *authority) issue(pair Pair, want leaf) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := newSerial()
	if err != nil {
		return err
	}
	subject := pkix.Name{CommonName: want.name}
	if want.organization != "" {
		subject.Organization = []string{want.organization}
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    a.from,
		NotAfter:     a.certificate.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  want.usage,
		DNSNames:     want.dns,
		IPAddresses:  want.ips,
	}, a.certificate, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("issue certificate %q: %w", want.name, err)
	}
	if err := writePEM(pair.Cert, "CERTIFICATE", der); err != nil {
		return err
	}
	return writeKey(pair.Key, key)
}

func newKeyFile(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(path, key)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

func newSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
}
