// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

func TestFilesForSecretsAndAttachmentsHaveToBeThere(t *testing.T) {
	t.Parallel()
	const encryption = "  encryption: {encryptedSecrets: {moon: aGVsbG8=}, decryptionTargets: "
	for name, c := range map[string]struct {
		text, secret string
		code         int
		want         []string
	}{
		"all there": {encryption + "[secret.yaml]}\n  attachment: {sources: {a: a.txt}, targets: [secret.yaml]}\n",
			"{{ .encryptedSecrets.moon }}", 0, []string{"0 errors, 0 warnings"}},
		"a target is missing": {encryption + "[nowhere.yaml]}\n", "{{ .encryptedSecrets.moon }}", exit.WrongUsage,
			[]string{`:6:72: error: spec.encryption.decryptionTargets[0]: there is no file "nowhere.yaml" in the ` +
				"directory of the application"}},
		"a target is a directory": {encryption + "[.git]}\n", "", exit.WrongUsage, []string{`".git" is not a file`}},
		"attachments are missing": {"  attachment: {sources: {a: b.txt}, targets: [c.txt]}\n", "", exit.WrongUsage,
			[]string{`spec.attachment.sources.a: there is no file "b.txt"`,
				`spec.attachment.targets[0]: there is no file "c.txt"`}},
		"a secret that no file uses": {encryption + "[secret.yaml]}\n", "{{ .encryptedSecrets.sun }}", 0,
			[]string{"warning: spec.encryption.encryptedSecrets.moon: is used by none of decryptionTargets; " +
				"a file uses it as {{ .encryptedSecrets.moon }}"}},
		"all secrets at once": {encryption + "[secret.yaml]}\n", "{{ range .encryptedSecrets }}{{ . }}{{ end }}", 0,
			[]string{"0 errors, 0 warnings"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repository := clitest.Repository(t, clitest.GoodApplication+c.text)
			require.NoError(t, os.WriteFile(filepath.Join(repository, "secret.yaml"), []byte(c.secret), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(repository, "a.txt"), nil, 0o600))
			file := filepath.Join(repository, "app.pipecd.yaml")
			code, stdout, _ := command(t.Context(), t.TempDir(), "validate", file)
			require.Equal(t, c.code, code, stdout)
			for _, want := range c.want {
				require.Contains(t, stdout, want)
			}
		})
	}
	draft := filepath.Join(t.TempDir(), "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(draft, []byte(clitest.GoodApplication+encryption+"[nowhere.yaml]}\n"), 0o600))
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", "--strict", draft)
	require.Zero(t, code, stdout)
}
