// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// KubeletClientName is the common name of the API server's certificate towards the kubelet; the kubelet lets no one
// else in.
const KubeletClientName = "kube-apiserver-kubelet-client"

// ServiceIP is the address of the "kubernetes" Service: the first one of the cluster's Service range.
const ServiceIP = "10.96.0.1"

const (
	lifetime = 10 * 365 * 24 * time.Hour
	// A set this close to its end is replaced at the next start, so that no certificate ends while a cluster runs.
	renewBefore = 90 * 24 * time.Hour
)

// Pair names a certificate file and its private key file, both PEM.
type Pair struct {
	Cert, Key string
}

// Files are the paths of a complete set.
type Files struct {
	CA            string // certificate of the Kubernetes authority
	Server        Pair   // kube-apiserver, server side
	Admin         Pair   // client, group system:masters
	KubeletClient Pair   // kube-apiserver as a client of the kubelet
	Kubelet       Pair   // kubelet, server side

	EtcdCA     string // certificate of the etcd authority
	EtcdServer Pair
	EtcdClient Pair

	ServiceAccountKey string // ECDSA private key that signs service account tokens
}

// Ensure returns the set in dir, making it when there is none that will do. The paths returned lie in dir.
// now decides whether certificates are valid.
func Ensure(dir string, now time.Time) (Files, error) {
	files := paths(dir)
	if usable(files, now) == nil {
		return files, nil
	}
	draft := dir + ".new"
	if err := remove(draft); err != nil {
		return Files{}, fmt.Errorf("clear unfinished certificates: %w", err)
	}
	if err := os.MkdirAll(draft, 0o700); err != nil {
		return Files{}, fmt.Errorf("create certificate directory: %w", err)
	}
	if err := generate(paths(draft), now); err != nil {
		return Files{}, fmt.Errorf("make certificates in %s: %w", draft, err)
	}
	if err := remove(dir); err != nil {
		return Files{}, fmt.Errorf("remove old certificates: %w", err)
	}
	if err := os.Rename(draft, dir); err != nil {
		return Files{}, fmt.Errorf("put certificates in place: %w", err)
	}
	return files, nil
}

// remove removes the files of a set, complete or not, and their directory. A directory that holds something else is an
// error, and stays: it is not ours.
func remove(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		err = &os.PathError{Op: "remove", Path: dir, Err: errors.New("it is not a directory of certificates")}
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	files := paths(dir)
	known := []string{files.CA, files.EtcdCA, files.ServiceAccountKey}
	for _, pair := range files.pairs() {
		known = append(known, pair.Cert, pair.Key)
	}
	for _, entry := range entries {
		if path := filepath.Join(dir, entry.Name()); !slices.Contains(known, path) || !entry.Type().IsRegular() {
			return &os.PathError{
				Op: "remove", Path: path,
				Err: errors.New("it is not a certificate of the embedded Kubernetes; move it away"),
			}
		}
	}
	for _, path := range known {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Remove(dir)
}

func paths(dir string) Files {
	pair := func(name string) Pair {
		return Pair{Cert: filepath.Join(dir, name+".crt"), Key: filepath.Join(dir, name+".key")}
	}
	return Files{
		CA:                filepath.Join(dir, "ca.crt"),
		Server:            pair("apiserver"),
		Admin:             pair("admin"),
		KubeletClient:     pair("apiserver-kubelet-client"),
		Kubelet:           pair("kubelet"),
		EtcdCA:            filepath.Join(dir, "etcd-ca.crt"),
		EtcdServer:        pair("etcd-server"),
		EtcdClient:        pair("etcd-client"),
		ServiceAccountKey: filepath.Join(dir, "service-account.key"),
	}
}

func (f Files) pairs() []Pair {
	return []Pair{f.Server, f.Admin, f.KubeletClient, f.Kubelet, f.EtcdServer, f.EtcdClient}
}

// usable reports whether every file is there and every certificate lasts a while yet.
func usable(files Files, now time.Time) error {
	certificates := []string{files.CA, files.EtcdCA}
	keys := []string{files.ServiceAccountKey}
	for _, pair := range files.pairs() {
		certificates = append(certificates, pair.Cert)
		keys = append(keys, pair.Key)
	}
	for _, path := range certificates {
		certificate, err := readCertificate(path)
		if err != nil {
			return err
		}
		if now.Before(certificate.NotBefore) || now.Add(renewBefore).After(certificate.NotAfter) {
			return fmt.Errorf("%s is valid from %s to %s only", path, certificate.NotBefore, certificate.NotAfter)
		}
	}
	for _, path := range keys {
		if _, err := readKey(path); err != nil {
			return err
		}
	}
	return nil
}

func generate(files Files, now time.Time) error {
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	kubernetes, err := newAuthority("pipedeck-embedded-ca", files.CA, now)
	if err != nil {
		return err
	}
	etcd, err := newAuthority("pipedeck-embedded-etcd-ca", files.EtcdCA, now)
	if err != nil {
		return err
	}
	return errors.Join(
		kubernetes.issue(files.Server, leaf{
			name: "kube-apiserver",
			dns: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
				"kubernetes.default.svc.cluster.local"},
			ips:   append([]net.IP{net.ParseIP(ServiceIP)}, loopback...),
			usage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}),
		kubernetes.issue(files.Admin, leaf{
			name: "pipedeck-admin", organization: "system:masters",
			usage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}),
		kubernetes.issue(files.KubeletClient, leaf{
			name:  KubeletClientName,
			usage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}),
		kubernetes.issue(files.Kubelet, leaf{
			name: "kubelet", ips: loopback,
			usage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}),
		etcd.issue(files.EtcdServer, leaf{
			name: "etcd", dns: []string{"localhost"}, ips: loopback,
			// etcd dials itself, so its own certificate serves as a client's too.
			usage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}),
		etcd.issue(files.EtcdClient, leaf{
			name:  "kube-apiserver",
			usage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}),
		newKeyFile(files.ServiceAccountKey),
	)
}

func readCertificate(path string) (*x509.Certificate, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse certificate %s: %w", path, err)
	}
	return certificate, nil
}

func readKey(path string) (any, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse private key %s: %w", path, err)
	}
	return key, nil
}

func readPEM(path string) (*pem.Block, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", path)
	}
	return block, nil
}
