// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package guide

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
)

// visitor follows one page in a home that has nothing but what the page creates.
type visitor struct {
	home, dir string
	// session is a file with the directory and the variables that the last block has left.
	session   string
	variables []string
	terminals []*terminal
}

// newVisitor returns a visitor with the built programs in the PATH. The caches are those of the user: what they hold,
// such as the embedded Kubernetes, takes minutes to build.
func newVisitor(t *testing.T) *visitor {
	t.Helper()
	clone, err := filepath.Abs("../..")
	require.NoError(t, err)
	bin := os.Getenv("PIPEDECK_BIN")
	require.NotEmpty(t, bin, "run the stories with: make e2e")
	// Not t.TempDir: the paths of sockets are short.
	home, err := os.MkdirTemp("", "page")
	require.NoError(t, err)
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	goCaches, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	require.NoError(t, err)
	caches := strings.Split(strings.TrimSpace(string(goCaches)), "\n")
	programs := filepath.Join(home, "programs")
	require.NoError(t, os.Mkdir(programs, 0o755))
	if kubectl := os.Getenv("PIPEDECK_KUBECTL"); kubectl != "" {
		require.NoError(t, os.Symlink(kubectl, filepath.Join(programs, "kubectl")))
	}
	v := &visitor{
		home: home, dir: home, session: filepath.Join(home, "session"),
		variables: []string{
			"HOME=" + home, "PIPEDECK=" + clone, "TERM=xterm-256color",
			"PATH=" + bin + ":" + programs + ":" + os.Getenv("PATH"),
			"XDG_CACHE_HOME=" + cache, "GOCACHE=" + caches[0], "GOMODCACHE=" + caches[1], "GOPATH=" + caches[2],
			"GOSUMDB=off", "GOWORK=off", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
			"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
			// Which cluster it is must not depend on the machine.
			"PIPEDECK_CLUSTER=embedded",
		},
	}
	t.Cleanup(func() { v.leave(t) })
	return v
}

// leave removes what the page has left.
func (v *visitor) leave(t *testing.T) {
	said, err := v.shell(t, "cd\npipedeck down --all\npipedeck list -o name").CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.NoError(t, os.RemoveAll(v.home))
}

// closeTerminals ends what a page has left in its terminals, which runs until then or has succeeded.
func (v *visitor) closeTerminals(t *testing.T) {
	t.Helper()
	for _, open := range v.terminals {
		ended := open.hasEnded()
		open.close()
		require.True(t, !ended || open.cmd.ProcessState.Success() || open.left, open.output())
	}
	v.terminals = nil
	if t.Failed() { // the next page starts an environment again
		_ = v.shell(t, "cd\npipedeck down --all").Run()
	}
}

// shell is a shell in the directory and with the variables that the last block has left.
func (v *visitor) shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	keep := "{ export -p; printf 'cd %q\\n' \"$PWD\"; } > " + v.session + "\n"
	command := exec.Command("bash", "-eo", "pipefail", "-c", "[ ! -e "+v.session+" ] || . "+v.session+"\n"+
		strings.TrimSuffix(script, "\n")+"\n"+keep)
	command.Dir = v.dir
	command.Env = v.variables
	return command
}

// follow does what the blocks of a page say, in their order. It begins in an empty folder with new terminals.
func (v *visitor) follow(t *testing.T, blocks []page.Block) {
	t.Helper()
	var err error
	v.dir, err = os.MkdirTemp(v.home, "work")
	require.NoError(t, err)
	v.session = v.dir + ".session"
	defer v.closeTerminals(t)
	var last output
	for _, b := range blocks {
		switch {
		case b.Language == page.Until:
			v.await(t, b.Place(), b.Text)
		case b.Language == page.Before && !opensUI(b), b.Language == "sh" && b.Mark == page.Run:
			last = output{b.Section, v.run(t, b)}
		case b.Language == page.Before, b.Language == "sh" && b.Mark == page.RunTerminal:
			v.keep(t, b)
			last = output{}
		case b.Language == "sh":
			last = output{}
		case b.Language == "text" && b.Mark == page.OfTerminal:
			v.compareLater(t, b, v.terminals[len(v.terminals)-1].output)
		case b.Language == "text" && b.Mark == "" && last.section == b.Section && last.text != "":
			require.Empty(t, v.difference(b, last.text), b.Place())
			last = output{}
		case b.File() != "":
			v.write(t, b)
		}
	}
}

// run runs the commands of a block to their end, and returns what they print.
func (v *visitor) run(t *testing.T, b page.Block) string {
	t.Helper()
	command := v.shell(t, b.Text)
	command.WaitDelay = time.Second // what goes on in the background may keep the pipe
	late := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
	defer late.Stop()
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s\n%s", b.Place(), b.Text, out)
	return string(out)
}

// output is what the last commands in a section of the page have printed.
type output struct{ section, text string }

// write writes the file that a block shows.
func (v *visitor) write(t *testing.T, b page.Block) {
	t.Helper()
	command := v.shell(t, "mkdir -p \"$(dirname '"+b.File()+"')\"\ncat > '"+b.File()+"'")
	command.Stdin = strings.NewReader(b.Text)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s", b.Place(), out)
}

// await repeats a command until it succeeds.
func (v *visitor) await(t *testing.T, place, command string) {
	t.Helper()
	await(t, patience, func() string {
		if out, err := v.shell(t, command).CombinedOutput(); err != nil {
			return place + ": " + command + "\n" + string(out)
		}
		return ""
	})
}
