// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const goodPiped = `apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: dev
  pipedID: piped-1
  pipedKeyData: c2VjcmV0LWtleQ==
  apiAddress: localhost:8080
  syncInterval: 5s
  git:
    sshKeyData: c2VjcmV0
  repositories:
    - repoId: apps
      remote: https://user:hunter2@example.com/apps.git
      branch: main
    - repoId: scp
      remote: git@example.com:org/apps.git
      branch: main
  plugins:
    - name: kubernetes
      url: file:///opt/kubernetes
      port: 7001
      config:
        n: 1
        y: "x"
        chartRegistries:
          - address: registry.example.com
            password: hunter3
      deployTargets:
        - name: local
          labels: {env: dev}
          config:
            kubeConfigPath: /home/dev/kubeconfig
  notifications:
    receivers:
      - name: hook
        webhook: {url: "https://example.com/hunter4", signatureValue: hunter5}
    routes:
      - receiver: hook
`

func TestPipedConfigurationIsReadWithItsDefaults(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "piped.yaml")
	require.NoError(t, os.WriteFile(file, []byte(goodPiped), 0o600))

	piped, err := LoadPiped(file)
	require.NoError(t, err)
	require.Empty(t, piped.Warnings)
	require.Equal(t, "dev", piped.ProjectID)
	require.Equal(t, 5*time.Second, piped.SyncInterval.Std())
	require.Equal(t, time.Minute, piped.AppConfigSyncInterval.Std())
	require.Equal(t, "piped", piped.Git.Username)
	require.Equal(t, 3, piped.PlanPreview.WorkerNum)
	require.Equal(t, 5*time.Minute, piped.PlanPreview.CommandHandleTimeout.Std())
	require.Equal(t, "PipeCD-Signature", piped.Notifications.Receivers[0].Webhook.SignatureKey)
	require.JSONEq(t, `{"n":1,"y":"x","chartRegistries":[{"address":"registry.example.com","password":"hunter3"}]}`,
		string(piped.Plugins[0].Config))
	require.Len(t, piped.Plugins[0].DeployTargets, 1)
	target := piped.Plugins[0].DeployTargets[0]
	require.Equal(t, "local", target.Name)
	require.JSONEq(t, `{"kubeConfigPath":"/home/dev/kubeconfig"}`, string(target.Config))
	key, err := piped.Key()
	require.NoError(t, err)
	require.Equal(t, "secret-key", key)
}

func TestMaskedConfigurationHoldsNoSecret(t *testing.T) {
	t.Parallel()
	piped, err := ParsePiped([]byte(goodPiped), "piped.yaml")
	require.NoError(t, err)
	piped.Plugins = append(piped.Plugins, Plugin{Name: "remote",
		URL:       "https://ada:hunter9@example.com/plugin?signature=hunter8",
		Signature: &PluginSignature{URL: "https://ada:hunter10@example.com/s?signature=hunter11"}})
	masked, err := piped.MaskedYAML()
	require.NoError(t, err)
	require.Contains(t, masked, "example.com/plugin")
	for _, secret := range []string{"hunter", "c2VjcmV0", "/home/dev/kubeconfig"} {
		require.NotContains(t, masked, secret)
	}
	require.Contains(t, masked, "kubeConfigPath")
	require.Contains(t, masked, "git@example.com:org/apps.git")
	require.Contains(t, masked, "projectID: dev")
	require.Contains(t, string(piped.Plugins[0].Config), "hunter3", "masking must not change the configuration itself")
}

func TestEveryMistakeIsReportedAtOnceWithItsPlace(t *testing.T) {
	t.Parallel()
	_, err := ParsePiped([]byte(`apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: 12
  pipedKeyFile: a
  pipedKeyData: "not base64!"
  apiAddress: localhost
  syncInterval: soon
  repositories: [{repoId: a, remote: b}, {repoId: a, remote: b, branch: c}]
  plugins:
    - name: kubernetes
      url: ftp://x
      port: 99999
`), "piped.yaml")
	var list Errors
	require.ErrorAs(t, err, &list)
	require.Equal(t, strings.TrimSpace(`
piped.yaml:4:3: spec.pipedID: is required and must not be empty
piped.yaml:4:14: spec.projectID: 12 is not text: write it in quotes
piped.yaml:6:17: spec.pipedKeyData: cannot be used together with pipedKeyFile
piped.yaml:7:15: spec.apiAddress: "localhost" is not host:port
piped.yaml:8:17: spec.syncInterval: "soon" is not a duration: `+
		`want a text like "10s" or "1h30m" that is not negative, or integer nanoseconds
piped.yaml:9:18: spec.repositories[0].branch: is required and must not be empty
piped.yaml:9:51: spec.repositories[1].repoId: "a" is used already by spec.repositories[0].repoId
piped.yaml:12:12: spec.plugins[0].url: "ftp://x" is not allowed here: want file://, https:// or oci://
piped.yaml:13:13: spec.plugins[0].port: 99999 is not a TCP port: want 1 to 65535, or 0 to have one chosen`),
		list.Error())
	var one *Error
	require.True(t, errors.As(err, &one))
	require.Equal(t, 4, one.Line)
}

func TestSyntaxErrorsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"an open bracket":         "apiVersion: [\n",
		"a tab as indentation":    "apiVersion: a\nspec:\n\tname: x\n",
		"an empty file":           "",
		"only a comment":          "# nothing\n",
		"a list":                  "- a\n",
		"an unknown alias":        "apiVersion: *nowhere\n",
		"an alias inside itself":  "spec: &a [*a]\n",
		"a second document":       "apiVersion: a\n---\nkind: b\n",
		"deep nesting":            "spec: " + strings.Repeat("[", 5000),
		"too large":               strings.Repeat("#", MaxSize+1),
		"a key given twice":       "apiVersion: a\napiVersion: b\n",
		"another kind":            "apiVersion: pipecd.dev/v1beta1\nkind: ConfigMap\nspec: {}\n",
		"another version":         "apiVersion: v1\nkind: Piped\nspec: {}\n",
		"no spec":                 "apiVersion: pipecd.dev/v1beta1\nkind: Piped\n",
		"a spec that is a string": "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec: x\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParsePiped([]byte(input), "piped.yaml")
			var list Errors
			require.ErrorAs(t, err, &list)
			require.Contains(t, err.Error(), "piped.yaml")
			t.Log(err)
		})
	}
}

func TestAliasesCannotFillTheMemory(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  plugins:\n" +
		"    a: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		b.WriteString("    b" + string(rune('0'+i)) + ": &a" + string(rune('1'+i)) + " [" +
			strings.Repeat("*a"+string(rune('0'+i))+", ", 9) + "*a" + string(rune('0'+i)) + "]\n")
	}
	_, err := ParseApplication([]byte(b.String()), "app.pipecd.yaml")
	require.ErrorContains(t, err, "more than 200000 values")
}

func TestFilesAreUTF8WithOrWithoutAByteOrderMark(t *testing.T) {
	t.Parallel()
	const application = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {name: web}\n"
	marked := []byte("\ufeff" + application)
	parsed, err := ParseApplication(marked, "app.pipecd.yaml")
	require.NoError(t, err)
	require.Equal(t, "web", parsed.Name)
	require.Empty(t, parsed.Warnings)
	require.True(t, Claimed(marked, "app.yaml"))
	_, err = ParseApplication([]byte("\ufeff"+strings.Replace(application, "Application", "Aplication", 1)),
		"app.pipecd.yaml")
	require.ErrorContains(t, err, "app.pipecd.yaml:2:7: kind: ")
	for input, want := range map[string]string{
		"\xff\xfea\x00p\x00": "app.pipecd.yaml:1:1: the file is UTF-16 text; save " +
			"it as UTF-8",
		"\xfe\xff\x00a\x00p": "app.pipecd.yaml:1:1: the file is UTF-16 text; save " +
			"it as UTF-8",
		strings.Replace(application, "web", "w\xfcb",
			1): "app.pipecd.yaml:3:15: the byte 0xfc is not UTF-8 text; save the file as UTF-8",
		strings.Replace(application, "web", "\"w\x00b\"", 1): "app.pipecd.yaml:3:16: holds the NUL character",
	} {
		_, err := ParseApplication([]byte(input), "app.pipecd.yaml")
		require.ErrorContains(t, err, want)
	}
}
