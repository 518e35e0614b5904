// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
)

const twoLogins = `apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: p
  pipedID: i
  pipedKeyData: a2V5
  apiAddress: localhost:8080
  git: {username: ada, sshKeyFile: general, knownHostsFile: hosts}
  repositories:
    - {repoId: general, remote: git@example.com:a.git, branch: main}
    - {repoId: keyed, remote: git@example.com:b.git, branch: main, git: {sshKeyFile: special, knownHostsFile: others}}
    - {repoId: token, remote: "https://example.com/c.git", branch: main,
       git: {username: bot, password: dG9wLXNlY3JldC10b2tlbg==}}
`

func TestARepositoryMayHaveItsOwnLogin(t *testing.T) {
	t.Parallel()
	piped, err := ParsePiped([]byte(twoLogins), "piped.yaml")
	require.NoError(t, err)
	var logins []Git
	for _, repository := range piped.Repositories {
		logins = append(logins, piped.GitOf(repository))
	}
	require.Equal(t, piped.Git, logins[0])
	require.Equal(t, "special", logins[1].SSHKeyFile)
	require.Equal(t, "others", logins[1].KnownHostsFile)
	require.Equal(t, "ada", logins[1].Username)
	require.Empty(t, logins[2].SSHKeyFile, "a password takes the place of the key")
	require.Equal(t, "bot", logins[2].Username)
	require.Equal(t, "hosts", logins[2].KnownHostsFile)

	require.Contains(t, piped.Secrets(), "top-secret-token")
	masked, err := piped.MaskedYAML()
	require.NoError(t, err)
	require.NotContains(t, masked, base64.StdEncoding.EncodeToString([]byte("top-secret-token")))
	require.NotContains(t, masked, "special")
	require.Equal(t, "special", piped.Repositories[1].Git.SSHKeyFile, "masking leaves the configuration alone")
}

func TestMistakesInTheLoginOfARepositoryAreReported(t *testing.T) {
	t.Parallel()
	for login, want := range map[string]string{
		"{sshKeyFile: a, sshKeyData: YQ==}": "spec.repositories[0].git.sshKeyData",
		"{sshKeyFile: a, password: YQ==}":   "spec.repositories[0].git.password",
		"{password: '?'}":                   "spec.repositories[0].git.password",
	} {
		text := "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  projectID: p\n  pipedID: i\n" +
			"  pipedKeyData: a2V5\n  apiAddress: localhost:8080\n" +
			"  repositories:\n    - {repoId: a, remote: git@example.com:a.git, branch: main, git: " + login + "}\n"
		_, err := ParsePiped([]byte(text), "piped.yaml")
		require.ErrorContains(t, err, want, login)
	}
}
