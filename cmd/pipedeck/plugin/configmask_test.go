// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

func TestAPluginTestNeverPrintsAConfiguredPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, config := filepath.Join(dir, "leaky"), filepath.Join(dir, "config.yaml")
	// It prints how it was configured and leaves a file where it runs.
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" >&2; printf 'no end: hunter2hunter2'; "+
		"pwd > where; exit 3\n"), 0o700))
	require.NoError(t, os.WriteFile(config, []byte("config: {password: hunter2hunter2, pin: 1234567, token: ab1, "+
		"retries: 7}\n"+
		"deployTargets: [{name: one, config: {address: \"https://ada:swordfish@example.com\"}}]\n"), 0o600))
	t.Run("as a user runs it", func(t *testing.T) {
		code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "test", program, "--config", config,
			"--verbose", "--source", "")
		require.Equal(t, exit.Failed, code)
		require.Contains(t, stderr, "no end: ******")
		require.Contains(t, stderr, `"retries":7`, "a number is no secret")
		for _, secret := range []string{"hunter2", "ab1", "swordfish"} {
			require.NotContains(t, stdout+stderr, secret)
		}
	})
	require.NoFileExists(t, "where")
	require.NoFileExists(t, filepath.Join(dir, "where"))

	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "test", program, "--with",
		`{"password": "hunter2hunter2"`)
	require.Equal(t, exit.WrongUsage, code)
	require.NotContains(t, stdout+stderr, "hunter2")
}

func TestTheMaskOfAConfigurationKnowsItsForms(t *testing.T) {
	t.Parallel()
	m, err := newConfigMask(
		sdk.Settings{Config: json.RawMessage(
			`{"credentials": {"user": "root1"}, "password": 4711, "note": "a longer text"}`)},
		`{"names": ["Ada Lovelace"], "apiKey": "k3y-k3y-k3y"}`, true)
	require.NoError(t, err)
	require.Equal(t, "****** ****** ****** Ada Lovelace ******",
		m.text("root1 4711 a longer text Ada Lovelace k3y-k3y-k3y"))
}

func TestAWordOfTheCasesIsNoSecret(t *testing.T) {
	t.Parallel()
	m, err := newConfigMask(sdk.Settings{Config: json.RawMessage(
		`{"directory": "deployed", "token": "nothing", "place": "warehouse"}`)}, "", true)
	require.NoError(t, err)
	require.Equal(t, "****** is deployed yet at ******", m.text("nothing is deployed yet at warehouse"))
}

func TestAPluginGetsACopyOfTheApplication(t *testing.T) {
	t.Parallel()
	root, scratch := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{".git/config": "", "apps/web/app.pipecd.yaml": "kind: Application",
		"base/kustomization.yaml": "base"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink("../../base", filepath.Join(root, "apps/web/base")))
	source, err := copiedSource(filepath.Join(root, "apps/web"), scratch)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(scratch, "repository", "apps", "web"), source.GetApplicationDirectory())
	base, err := os.ReadFile(filepath.Join(source.GetApplicationDirectory(), "base", "kustomization.yaml"))
	require.NoError(t, err)
	require.Equal(t, "base", string(base))
	require.NoDirExists(t, filepath.Join(scratch, "repository", ".git"))
	require.NoError(t, os.WriteFile(filepath.Join(source.GetApplicationDirectory(), "written"), nil, 0o600))
	require.NoFileExists(t, filepath.Join(root, "apps/web/written"))

	require.ErrorContains(t, copyTree(root, filepath.Join(t.TempDir(), "copy"), 3), "larger than")
	source, err = copiedSource("", scratch)
	require.NoError(t, err)
	require.Nil(t, source)
}
