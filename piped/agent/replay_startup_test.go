// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// startUp puts the recorded applications into the repository; the control plane knows none of them. The agent gets the
// configuration that PipeCD's has reported, with places, keys and ports of this machine.
func startUp(t *testing.T, s *stage) {
	t.Helper()
	meta := of[*pipedservice.ReportPipedMetaRequest](s.recorded, controlPlaneLink)[0]
	s.remote = meta.GetRepositories()[0].GetRemote()
	for _, a := range of[*pipedservice.ReportUnregisteredApplicationConfigurationsRequest](s.recorded,
		controlPlaneLink)[0].GetApplications() {
		s.pipedID = a.GetPipedId()
		s.put(t, a.GetPath()+"/"+a.GetConfigFilename(),
			"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {name: "+a.GetName()+", plugins: {wait: {}}}\n")
	}
	s.revisions = []*revision{{commit: &model.Commit{Message: "first", Author: "dev", CreatedAt: 1795229964}}}
	s.push(t)
	s.configure = func(t *testing.T, s *stage, program string) map[string]any {
		t.Helper()
		var spec map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(meta.GetConfig()), &spec))
		private, public := keyPair(t)
		spec["apiAddress"] = s.plane.address
		spec["pipedKeyData"] = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("K", 50)))
		spec["repositories"].([]any)[0].(map[string]any)["remote"] = "file://" + s.repository
		spec["secretManagement"].(map[string]any)["config"] = map[string]any{
			"privateKeyFile": s.write(t, "private.pem", private), "publicKeyFile": s.write(t, "public.pem", public),
		}
		for i, p := range spec["plugins"].([]any) {
			plugin := p.(map[string]any)
			settings, has := plugin["config"].(map[string]any)
			if !has {
				settings = map[string]any{}
			}
			settings["backend"] = s.plugins[i].address
			plugin["url"], plugin["port"], plugin["config"] = program, 0, settings
			s.called(plugin["name"].(string), s.plugins[i].name)
		}
		s.theirs = append(s.theirs,
			"127.0.0.1:18080", "the address", "file:///srv/pipe/src/bin/wiretool-rec", "the program",
			"/srv/pipe/run/R/pub.pem", "the public key's file", meta.GetSecretEncryption().GetPublicKey(),
			"the public key")
		s.ours = append(s.ours, s.plane.address, "the address", program, "the program", s.dir+"/public.pem",
			"the public key's file", public, "the public key")
		return spec
	}
}

// started reports that the agent has looked at everything once.
func started(s *stage) bool {
	for _, p := range s.plugins {
		if len(p.made()) == 0 {
			return false
		}
	}
	return reported[*pipedservice.ReportUnregisteredApplicationConfigurationsRequest](s) &&
		reported[*pipedservice.ListEventsRequest](s) &&
		reported[*pipedservice.ListUnhandledCommandsRequest](s) &&
		reported[*pipedservice.ListNotCompletedDeploymentsRequest](s)
}

// called wants the plugins to come in the order of the configuration.
func (s *stage) called(configured, recorded string) {
	if configured != recorded {
		panic(fmt.Sprintf("plugin %s was recorded where the configuration has %s", recorded, configured))
	}
}

// keyPair makes a key pair for secrets in applications.
func keyPair(t *testing.T) (private, public string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}
