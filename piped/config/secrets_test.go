// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretsOfTheConfigurationAreFound(t *testing.T) {
	t.Parallel()
	p, err := ParsePiped([]byte(`apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: project
  pipedID: piped
  pipedKeyData: cGlwZWQta2V5
  apiAddress: 127.0.0.1:1
  git: {username: ann, password: Z2l0LXBhc3N3b3Jk}
  repositories:
    - {repoId: a, remote: "https://ann:remote-password@example.com/a.git", branch: main}
    - {repoId: b, remote: "ssh://git@example.com/b.git", branch: main}
    - {repoId: c, remote: "https://lonely-token@example.com/c.git", branch: main}
  plugins:
    - name: kubernetes
      url: file:///plugin
      port: 0
      config:
        chartRegistries: [{address: example.com, username: ann, password: chart-password}]
        passwordFile: /etc/password
        secretName: not-a-secret
        tokens: [first-token]
      deployTargets: [{name: t, config: {apiKey: {value: target-key}, region: here}}]
  notifications:
    receivers:
      - {name: s, slack: {hookURL: "https://hooks.example.com/x"}}
      - {name: w, webhook: {url: "https://example.com", signatureValue: signed}}
  secretManagement: {type: AGE, config: {identityData: QUdFLVNFQ1JFVC1LRVk=}}
`), "piped.yaml")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		"cGlwZWQta2V5", "piped-key", "Z2l0LXBhc3N3b3Jk", "git-password", "remote-password", "lonely-token",
		"chart-password", "first-token", "target-key", "https://hooks.example.com/x", "signed",
		"QUdFLVNFQ1JFVC1LRVk=", "AGE-SECRET-KEY",
	}, p.Secrets())
	masked, err := p.MaskedYAML()
	require.NoError(t, err)
	for _, secret := range p.Secrets() {
		require.NotContains(t, masked, secret)
	}
}

func TestAgeIdentitiesAreAFileOrBase64(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"{type: AGE}": "needs identityFile or identityData",
		"{type: AGE, config: {identityFile: a, identityData: YQ==}}": "cannot be used together",
		"{type: AGE, config: {identityData: '!'}}": "identityData: " +
			"is not valid base64",
		"{type: KEY_PAIR, config: {privateKeyFile: a, publicKeyFile: b, identityFile: c}}": "",
		"{type: KEY_PAIR, config: {privateKeyData: '!', publicKeyFile: b, identityFile: c}}": "privateKeyData: " +
			"is not valid base64",
	} {
		_, err := ParsePiped([]byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  projectID: p\n"+
			"  pipedID: i\n  pipedKeyFile: k\n  apiAddress: a:1\n  secretManagement: "+config+"\n"), "piped.yaml")
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}
