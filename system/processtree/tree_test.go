// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/system/processtree"
)

const wait = time.Minute

// scripts leave a process behind that writes its number to the file $FILE and lives for long.
var scripts = map[string]string{
	"a child":         `(trap '' TERM HUP; echo $$ > $FILE; exec sleep 600) & sleep 600`,
	"another session": `setsid sh -c 'trap "" TERM; echo $$ > $FILE; exec sleep 600' & sleep 600`,
	"a double fork": `(setsid nohup sh -c ` +
		`'echo $$ > $FILE; exec sleep 600' >/dev/null 2>&1 &) ; exit 0`,
	"another session without a mark": `env -u PIPEDECK_PROCESS_TREE setsid sh -c ` +
		`'echo $$ > $FILE; exec sleep 600' & sleep 600`,
}

// start runs a script as a member and returns the number of the process that it leaves.
func start(t *testing.T, tree *processtree.Tree, script string) (command *exec.Cmd, left int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	command, err := tree.Start(func() *exec.Cmd {
		command := exec.Command("/bin/sh", "-c", script)
		command.Env = append(os.Environ(), "FILE="+file)
		return command
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		left, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil
	}, wait, time.Millisecond)
	t.Cleanup(func() { _ = syscall.Kill(left, syscall.SIGKILL) })
	return command, left
}

func alive(pid int) bool {
	stat, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(stat)), "Z")
}

func end(t *testing.T, tree *processtree.Tree) []processtree.Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	ended, err := tree.End(ctx)
	require.NoError(t, err)
	return ended
}

func TestEndEndsWhateverDescendsFromAProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the environment of /bin/sh is hidden here")
	}
	for name, script := range scripts {
		for _, grouped := range []bool{false, true} {
			t.Run(name+" grouped "+strconv.FormatBool(grouped), func(t *testing.T) {
				t.Parallel()
				tree, other := processtree.New(), processtree.New()
				if grouped {
					if err := tree.CreateGroup(""); err != nil {
						t.Skip(err)
					}
					t.Cleanup(tree.RemoveGroups)
				}
				command, left := start(t, tree, script)
				neighbour, spared := start(t, other, scripts["a child"])
				require.NotEmpty(t, end(t, tree))
				require.False(t, alive(left))
				require.True(t, alive(spared))
				_ = command.Wait()
				require.Empty(t, end(t, tree))
				end(t, other)
				_ = neighbour.Wait()
			})
		}
	}
}

func TestAGroupFindsADetachedProcessWithoutAnEnvironment(t *testing.T) {
	t.Parallel()
	tree := processtree.New()
	if err := tree.CreateGroup(""); err != nil {
		t.Skip(err)
	}
	t.Cleanup(tree.RemoveGroups)
	command, left := start(t, tree, `(env -i FILE=$FILE setsid sh -c 'echo $$ > $FILE; exec sleep 600' &) ; exit 0`)
	require.NoError(t, command.Wait())
	require.Len(t, end(t, tree), 1)
	require.False(t, alive(left))
}

func TestALaterProcessEndsWhatAKilledOneHasLeft(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the environment of /bin/sh is hidden here")
	}
	file := filepath.Join(t.TempDir(), "tree")
	require.Nil(t, processtree.Kept(file))
	first, err := processtree.Keep(file)
	require.NoError(t, err)
	_ = first.CreateGroup("")
	t.Cleanup(first.RemoveGroups)
	child := first.Child()
	_ = child.CreateGroup(first.Group())
	command, left := start(t, child, scripts["a double fork"])
	require.NoError(t, command.Wait())

	second, err := processtree.Keep(file)
	require.NoError(t, err)
	end(t, second)
	require.False(t, alive(left))
	second.RemoveGroups()
	if third := processtree.Kept(file); third != nil {
		require.Empty(t, end(t, third))
	}
}

func TestADamagedFileOfATreeIsReplaced(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tree")
	for _, content := range []string{"", "{", `{"token":""}`, `{"token":"a"}`, `{"token":"/"}`} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		require.Nil(t, processtree.Kept(file))
		tree, err := processtree.Keep(file)
		require.NoError(t, err)
		require.NotEqual(t, processtree.Variable+"=", tree.Environment())
		require.Equal(t, tree.Environment(), processtree.Kept(file).Environment())
	}
}

func TestTerminateReturnsWithTheLastMember(t *testing.T) {
	t.Parallel()
	tree := processtree.New()
	// What a member starts when it is asked to end is asked, too. It stays until that is another program: the copy of a
	// shell forgets a signal that comes before.
	command, _ := start(t, tree, `trap 'sleep 600 & until [ "$(ps -o comm= -p $!)" = sleep ]; do :; done; exit 0' TERM
		echo $$ > $FILE; while :; do sleep 0.01; done`)
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	require.NoError(t, tree.Terminate(ctx))
	<-ended

	tree = processtree.New()
	ignoring, ignores := start(t, tree, `trap '' TERM; echo $$ > $FILE; exec sleep 600`)
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	var left *processtree.LeftError
	require.ErrorAs(t, tree.Terminate(short), &left)
	require.NotEmpty(t, left.Processes)
	require.True(t, alive(ignores))
	end(t, tree)
	require.Error(t, ignoring.Wait())
}

// leftInGroup leaves a process without an environment in a process group whose first process has ended.
func leftInGroup(t *testing.T) (group int, left int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	command := exec.Command("/bin/sh", "-c", "env -i sleep 600 & echo $! > "+file)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, command.Run())
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	left, err = strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(left, syscall.SIGKILL) })
	return command.Process.Pid, left
}

func TestTheRestOfARecordedProcessGroupIsEnded(t *testing.T) {
	t.Parallel()
	session := 0
	if runtime.GOOS == "linux" {
		var err error
		session, err = unix.Getsid(0)
		require.NoError(t, err)
	}
	group, left := leftInGroup(t)
	_, spared := leftInGroup(t)
	tree := processtree.New()
	if session != 0 {
		tree.UseProcessGroup(group, session+1, 1)
		require.Empty(t, end(t, tree), "it is a group of another session")
	}
	tree.UseProcessGroup(group, session, 1)
	require.Len(t, end(t, tree), 1)
	require.False(t, alive(left))
	require.True(t, alive(spared))
}

func TestAProcessGroupWhoseNumberWasGivenAgainIsLeftAlone(t *testing.T) {
	t.Parallel()
	command := exec.Command("sleep", "600")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	session := 0
	if runtime.GOOS == "linux" {
		session, _ = unix.Getsid(0)
	}
	tree := processtree.New()
	tree.UseProcessGroup(command.Process.Pid, session, 1)
	require.Empty(t, end(t, tree))
	require.True(t, alive(command.Process.Pid))
}
