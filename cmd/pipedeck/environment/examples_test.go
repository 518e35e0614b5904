// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func TestTheExamplesOfWorkflowsUseFlagsThatExist(t *testing.T) {
	t.Parallel()
	ci := newCICommand(&session.Target{})
	names, err := filepath.Glob("../../../docs/ci/*")
	require.NoError(t, err)
	require.Len(t, names, 4)
	for _, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.HasSuffix(name, ".yml") {
			var parsed map[string]any
			require.NoError(t, yaml.Unmarshal(content, &parsed), name)
		}
		command := regexp.MustCompile(`pipedeck ci [^\n']*`).FindString(string(content))
		require.NotEmpty(t, command, name)
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(command, -1) {
			require.NotNil(t, ci.Flags().Lookup(strings.TrimPrefix(flag, "--")), "%s: %s", name, flag)
		}
	}
}

// release writes a directory in the form of a release, whose pipedeck is a script.
func release(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	installer, err := os.ReadFile("../../../tools/release/install.sh")
	require.NoError(t, err)
	filled := strings.NewReplacer("<< .Version >>", "v9.9.9", "<< .URL >>", "https://example.invalid", "<< .Key >>",
		"RWQ").Replace(string(installer))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "install.sh"), []byte(filled), 0o644))
	name := "pipedeck_v9.9.9_" + runtime.GOOS + "_" + runtime.GOARCH
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	for _, program := range []string{"pipedeck", "piped"} {
		content := "#!/bin/sh\necho pipedeck v9.9.9\n"
		require.NoError(t, files.WriteHeader(&tar.Header{Name: name + "/bin/" + program, Mode: 0o755,
			Size: int64(len(content)), Typeflag: tar.TypeReg}))
		_, err := files.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, files.Close())
	require.NoError(t, zipped.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".tar.gz"), archive.Bytes(), 0o644))
	sums := fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(archive.Bytes()), name)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS.minisig"), nil, 0o644))
	return dir
}

func TestTheActionInstallsAReleaseOfADirectory(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("minisign"); err == nil {
		t.Skip("minisign refuses the stand-in for a release, which is not signed")
	}
	content, err := os.ReadFile("../../../.github/actions/setup-pipedeck/action.yml")
	require.NoError(t, err)
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Shell, Run string
				Env        map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(content, &action))
	require.Len(t, action.Runs.Steps, 1)
	step := action.Runs.Steps[0]
	require.Equal(t, "bash", step.Shell)
	require.NotContains(t, step.Run, "${{", "inputs come by the environment: they are no part of the script")
	temp := t.TempDir()
	run := func(inputs map[string]string) (string, error) {
		cmd := exec.Command("bash", "-c", step.Run)
		cmd.Dir = temp
		cmd.Env = append(os.Environ(), "HOME="+temp, "RUNNER_TEMP="+temp, "GITHUB_PATH="+filepath.Join(temp, "path"),
			"GITHUB_OUTPUT="+filepath.Join(temp, "output"))
		for name, expression := range step.Env {
			input := strings.TrimSuffix(strings.TrimPrefix(expression, "${{ inputs."), " }}")
			require.Contains(t, action.Inputs, input)
			value, given := inputs[input]
			if !given {
				value = action.Inputs[input].Default
			}
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	from := release(t)
	out, err := run(map[string]string{"from": from})
	require.NoError(t, err, out)
	path, err := os.ReadFile(filepath.Join(temp, "path"))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(strings.TrimSpace(string(path)), "pipedeck"))
	version, err := os.ReadFile(filepath.Join(temp, "output"))
	require.NoError(t, err)
	require.Equal(t, "version=pipedeck v9.9.9\n", string(version))
	out, err = run(map[string]string{"from": from, "prefix": filepath.Join(temp, "with a blank")})
	require.NoError(t, err, out)
	require.FileExists(t, filepath.Join(temp, "with a blank", "bin", "pipedeck"))

	out, err = run(map[string]string{"from": temp})
	require.Error(t, err)
	require.Contains(t, out, "::error title=setup-pipedeck::there is no install.sh in")
	out, err = run(map[string]string{"from": from, "require-signature": "true"})
	require.Error(t, err)
	require.Contains(t, out, "needs minisign")
	require.NoError(t, os.WriteFile(filepath.Join(from, "SHA256SUMS"), []byte("0  x\n"), 0o644))
	out, err = run(map[string]string{"from": from})
	require.Error(t, err, out)
}
