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
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
)

// release writes a directory in the form of a release, signed by a key of the test. Its pipedeck is a script.
func release(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	key, err := signature.Generate(signature.Minisign)
	require.NoError(t, err)
	public, err := key.PublicFile()
	require.NoError(t, err)
	installer, err := os.ReadFile("../../../tools/release/install.sh")
	require.NoError(t, err)
	filled := strings.NewReplacer("<< .Version >>", "v9.9.9", "<< .URL >>", "https://example.invalid", "<< .Key >>",
		strings.Split(string(public), "\n")[1]).Replace(string(installer))
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
	signed, err := key.Sign(strings.NewReader(sums), "pipedeck v9.9.9")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS.minisig"), signed, 0o644))
	return dir
}

// minisignCommand is the name under which the program of the tests verifies as minisign does.
const minisignCommand = "minisign"

// verifyAsMinisign is minisign -Vqm FILE -P KEY.
func verifyAsMinisign(args []string) error {
	if len(args) != 4 || args[0] != "-Vqm" || args[2] != "-P" {
		return fmt.Errorf("unknown arguments %q", args)
	}
	key, err := signature.ParsePublicKey(args[3])
	if err != nil {
		return err
	}
	signed, err := os.ReadFile(args[1] + ".minisig")
	if err != nil {
		return err
	}
	_, err = signature.Verify(args[1], signed, key)
	return err
}

// machine is where an installation runs: with minisign, or without.
type machine struct {
	temp, path string
	step       func(inputs map[string]string) *exec.Cmd
}

// newMachine returns a machine that has the programs of this one. minisign is that of this machine, where it is
// installed.
func newMachine(t *testing.T, withMinisign bool) *machine {
	t.Helper()
	m := &machine{temp: t.TempDir(), path: t.TempDir()}
	for dir := range strings.SplitSeq(os.Getenv("PATH"), string(filepath.ListSeparator)) {
		entries, _ := os.ReadDir(dir) // those that are missing have no programs
		for _, entry := range entries {
			if withMinisign || entry.Name() != minisignCommand {
				_ = os.Symlink(filepath.Join(dir, entry.Name()), filepath.Join(m.path, entry.Name())) // the first wins
			}
		}
	}
	if _, err := os.Stat(filepath.Join(m.path, minisignCommand)); withMinisign && err != nil {
		program, err := os.Executable()
		require.NoError(t, err)
		require.NoError(t, os.Symlink(program, filepath.Join(m.path, minisignCommand)))
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
	m.step = func(inputs map[string]string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", step.Run)
		cmd.Dir = m.temp
		cmd.Env = append(os.Environ(), "PATH="+m.path, "HOME="+m.temp, "RUNNER_TEMP="+m.temp,
			"GITHUB_PATH="+filepath.Join(m.temp, "path"), "GITHUB_OUTPUT="+filepath.Join(m.temp, "output"))
		for name, expression := range step.Env {
			input := strings.TrimSuffix(strings.TrimPrefix(expression, "${{ inputs."), " }}")
			require.Contains(t, action.Inputs, input)
			value, given := inputs[input]
			if !given {
				value = action.Inputs[input].Default
			}
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		return cmd
	}
	return m
}

// installs requires that the release in a directory is installed.
func (m *machine) installs(t *testing.T, inputs map[string]string) {
	t.Helper()
	out, err := m.step(inputs).CombinedOutput()
	require.NoError(t, err, string(out))
}

// refuses requires that nothing is installed, and why.
func (m *machine) refuses(t *testing.T, inputs map[string]string, says string) {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "refused")
	with := map[string]string{"prefix": prefix}
	for name, value := range inputs {
		with[name] = value
	}
	out, err := m.step(with).CombinedOutput()
	require.Error(t, err, string(out))
	require.Contains(t, string(out), says)
	require.NoFileExists(t, filepath.Join(prefix, "bin", "pipedeck"))
}

func TestTheActionInstallsAReleaseOfADirectory(t *testing.T) {
	t.Parallel()
	for name, withMinisign := range map[string]bool{"with minisign": true, "without minisign": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, from := newMachine(t, withMinisign), release(t)
			m.installs(t, map[string]string{"from": from})
			path, err := os.ReadFile(filepath.Join(m.temp, "path"))
			require.NoError(t, err)
			require.FileExists(t, filepath.Join(strings.TrimSpace(string(path)), "pipedeck"))
			version, err := os.ReadFile(filepath.Join(m.temp, "output"))
			require.NoError(t, err)
			require.Equal(t, "version=pipedeck v9.9.9\n", string(version))
			m.installs(t, map[string]string{"from": from, "prefix": filepath.Join(m.temp, "with a blank")})
			require.FileExists(t, filepath.Join(m.temp, "with a blank", "bin", "pipedeck"))

			m.refuses(t, map[string]string{"from": m.temp},
				"::error title=setup-pipedeck::there is no install.sh in")
			strict := map[string]string{"from": from, "require-signature": "true"}
			if withMinisign {
				m.installs(t, strict)
			} else {
				m.refuses(t, strict, "needs minisign")
			}
		})
	}
}

func TestTheActionRefusesAReleaseThatWasChanged(t *testing.T) {
	t.Parallel()
	archive := "pipedeck_v9.9.9_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	appendTo := func(t *testing.T, file, content string) {
		t.Helper()
		before, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, append(before, content...), 0o644))
	}
	for name, withMinisign := range map[string]bool{"with minisign": true, "without minisign": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, from := newMachine(t, withMinisign), release(t)
			appendTo(t, filepath.Join(from, archive), "x")
			m.refuses(t, map[string]string{"from": from}, archive+" is not the released file")
			data, err := os.ReadFile(filepath.Join(from, archive))
			require.NoError(t, err)
			// Whoever can change the archive can change its checksum, too: only the signature shows that.
			sums := fmt.Sprintf("%x  %s\n", sha256.Sum256(data), archive)
			require.NoError(t, os.WriteFile(filepath.Join(from, "SHA256SUMS"), []byte(sums), 0o644))
			if withMinisign {
				m.refuses(t, map[string]string{"from": from}, "the checksums are not signed by the key")
			}
		})
	}
}
