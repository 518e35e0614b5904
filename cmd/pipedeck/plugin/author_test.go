// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
	"github.com/pipedeck/pipedeck/system/buildtest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestAPluginIsTestedAndReplayed(t *testing.T) {
	t.Parallel()
	wait := buildtest.Program(t, "../../../plugins/wait")
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "test", wait, "--with", `{"duration": "100ms"}`,
		"-o", "json")
	require.Zero(t, code, stdout+stderr)
	var tested document.PluginTest
	clitest.Document(t, "plugin-test", stdout, &tested)
	require.Len(t, tested.Checks, len(conformance.Cases()))
	for _, check := range tested.Checks {
		require.NotEqual(t, "failed", check.State, "%s: %s", check.ID, check.Detail)
		require.NotEmpty(t, check.Why, check.ID)
	}

	code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "test", wait, "--stage", "WIAT")
	require.Equal(t, exit.WrongUsage, code)
	require.Equal(t, "pipedeck: the plugin has no stage WIAT, only WAIT\n"+
		"next step: name one of its stages with --stage\n", stderr)
	require.Empty(t, stdout)

	code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "test", wait, "--with",
		`{"duratoin": "1s"}`)
	require.Equal(t, exit.WrongUsage, code, stdout)
	require.Contains(t, stderr, "pipedeck: --with is wrong for the stage WAIT:\n  duratoin: unknown key \"duratoin\"")
	require.Contains(t, stderr, `did you mean "duration"?`)
	require.Contains(t, stderr, "next step: correct it; ")
	require.Empty(t, stdout, "nothing has been executed")

	// The texts of logs in this recording are not those that PipeCD's plugin wrote.
	const calls = "../../../api/testdata/recordings/a1-wait-script.jsonl"
	results := filepath.Join(t.TempDir(), "results.xml")
	code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "replay", calls, wait, "--plugin-name", "wait",
		"--junit", results)
	require.Equal(t, exit.Failed, code)
	junit, err := os.ReadFile(results)
	require.NoError(t, err)
	require.Contains(t, string(junit), `tests="5" failures="1"`)
	require.Contains(t, string(junit), `name="reports of stage WAIT" classname="a1-wait-script.jsonl"`)
	require.Contains(t, string(junit), "log, metadata not as recorded")
	require.Contains(t, stdout, "same     13 ExecuteStage WAIT\ndiffers  reports of stage WAIT\n")
	require.Contains(t, stdout, "    -line 1\n")
	require.Contains(t, stderr, "1 of 5 are not as recorded\nnext step: ")
	code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "replay", calls, wait, "--plugin-name", "wait",
		"-o", "json",
		"--ignore", "(?s).*(line|Wait|Until).*")
	require.Equal(t, exit.Failed, code)
	require.NotContains(t, stderr, "2 of")
	var replayed document.Replay
	clitest.Document(t, "plugin-replay", stdout, &replayed)
	require.Len(t, replayed.Calls, 5)
	require.True(t, replayed.Calls[2].Same)
	require.Equal(t, "metadata", replayed.Calls[3].Differences[0].What,
		"the log is ignored, and ours shows until when it waits")
}

func TestWrongUseOfAPluginsToolsIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"empty.jsonl": "", "piped-plugin.yaml": "confg: {}\n",
		"list.yaml": "deployTargets: [{labels: {}}]\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	program, err := exec.LookPath("true")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no plugin": {[]string{"test", "/no/such/plugin"},
			"give the program of a plugin or the directory"},
		"no program":                {[]string{"test", filepath.Join(dir, "empty.jsonl")}, "is not executable"},
		"options that are no JSON":  {[]string{"test", program, "--with", "a: b"}, "--with is not JSON"},
		"no application":            {[]string{"test", program, "--source", dir}, "with its app.pipecd.yaml"},
		"a misspelt key next to it": {[]string{"test", dir}, `unknown key "confg" is not read; did you mean "config"?`},
		"a target without a name": {[]string{"test", program, "--config", filepath.Join(dir, "list.yaml")},
			"deployTargets[0].name: is required"},
		"a configuration of something else": {[]string{"test", program, "--config", "/etc/passwd"},
			`the file holds no keys, but "`},
		"no recording": {[]string{"replay", filepath.Join(dir, "none"), program},
			"make one with: pipedeck plugin record"},
		"an empty recording": {[]string{"replay", filepath.Join(dir, "empty.jsonl"), program},
			"holds no call"},
		"a pattern that is none": {[]string{"replay", "x", program, "--ignore", "("},
			"give a regular expression"},
		"several plugins": {[]string{"replay", "../../../api/testdata/recordings/a1-wait-script.jsonl",
			program}, "--plugin-name scriptrun"},
		"no file to record to": {[]string{"record", "a=" + program}, "--file calls.jsonl"},
		"a recorder for a url": {[]string{"record", "a=https://example.com/p", "-f", "x"},
			"pipedeck plugin install"},
		"a recorder without a size": {[]string{"record", "a=" + program, "-f", "x", "--max-size", "0"},
			"number of MiB"},
		"a recorder without arguments": {[]string{"record", "-f", "x"}, "takes between 1 and 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := command(t.Context(), t.TempDir(), append([]string{"plugin"}, c.args...)...)
			require.Equal(t, exit.WrongUsage, code, stderr)
			require.Contains(t, stderr, c.says)
			require.Contains(t, stderr, "next step: ")
			require.Empty(t, stdout)
		})
	}
}

func TestALauncherStartsTheRecorderWithWhatPipedGives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, err := exec.LookPath("true")
	require.NoError(t, err)
	launcher := filepath.Join(dir, "it's a launcher")
	code, _, stderr := command(t.Context(), dir, "plugin", "record", "a="+program, "-f",
		filepath.Join(dir, "it's.jsonl"), "--launcher", launcher)
	require.Zero(t, code, stderr)
	text, err := os.ReadFile(launcher)
	require.NoError(t, err)
	require.Contains(t, string(text), `'`+strings.ReplaceAll(filepath.Join(dir, "it's.jsonl"), "'", `'\''`)+`'`)
	require.True(t, strings.HasSuffix(string(text), ` -- "$@"`+"\n"))
	require.NoError(t, exec.CommandContext(t.Context(), "sh", "-n", launcher).Run())
}

func TestSecretsAreMaskedInARecording(t *testing.T) {
	t.Parallel()
	mask := newRecordMask("")
	masked, err := mask.settle(sdk.Settings{Name: "p", Config: json.RawMessage(
		`{"apiToken": "tok-123456", "password": "abc", "secretName": "shown", ` +
			`"nested": [{"dbPassword": "pw-abcdef"}], "url": "https://ann:pass-word@example.com"}`,
	)})
	require.NoError(t, err)
	for _, secret := range []string{"tok-123456", `"abc"`, "pw-abcdef", "pass-word"} {
		require.NotContains(t, string(masked), secret)
	}
	require.Contains(t, string(masked), "shown")
	require.Equal(t, "a ****** b", strings.ReplaceAll(mask.text("a tok-123456 b"), "(masked)", "******"))
	require.NotContains(t, mask.text("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"), "AAAA")
}

// rot opens ciphertexts that hold their secret after a colon.
type rot struct{}

func (rot) Decrypt(ciphertext string) (string, error) {
	return strings.TrimPrefix(ciphertext, "x:"), nil
}
func (rot) PublicKey() string   { return "" }
func (rot) Sensitive() []string { return nil }

func TestSecretsOfApplicationsAreKnownToARecorder(t *testing.T) {
	t.Parallel()
	mask := newRecordMask("")
	mask.decrypter = rot{}
	source := &common.DeploymentSource{
		ApplicationConfig: []byte("spec:\n  encryption:\n    encryptedSecrets:\n      db: x:plain-secret\n"),
	}
	request := &deployment.ExecuteStageRequest{
		Input: &deployment.ExecutePluginInput{TargetDeploymentSource: source},
	}
	require.Contains(t, mask.text("the plain-secret"), "plain-secret")
	mask.see(request)
	require.NotContains(t, mask.text("the plain-secret"), "plain-secret")
}
