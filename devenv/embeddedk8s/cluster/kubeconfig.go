// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

// ContextName is the name of the kubeconfig's context, cluster and user.
func ContextName(nodeName string) string { return "pipedeck-" + nodeName }

// writeKubeconfig writes an administrator's kubeconfig, certificates included, so that it can be copied.
func writeKubeconfig(path, nodeName, server string, files pki.Files) error {
	authority, authorityErr := os.ReadFile(files.CA)
	certificate, certificateErr := os.ReadFile(files.Admin.Cert)
	key, keyErr := os.ReadFile(files.Admin.Key)
	if err := errors.Join(authorityErr, certificateErr, keyErr); err != nil {
		return fmt.Errorf("read certificates for the kubeconfig: %w", err)
	}
	name := ContextName(nodeName)
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create the kubeconfig's directory: %w", err)
	}
	if err := writeFile(path, content); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

// writeFile replaces path as a whole, so that a reader sees the old content or the new. The file is for its owner only.
func writeFile(path string, content []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		_ = os.Remove(draft.Name())
	}
	return err
}
