// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kind/pkg/errors"
	"sigs.k8s.io/kind/pkg/exec"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

func TestKindsStepsBecomeOurs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log, err := openLog(path)
	require.NoError(t, err)
	wanted, err := configured(t, "", "node:v1")
	require.NoError(t, err)
	type progress struct {
		detail      string
		done, total int64
	}
	var seen []progress
	s := newSteps(func(detail string, done, total int64) { seen = append(seen, progress{detail, done, total}) }, log,
		wanted)
	s.V(0).Infof("Creating cluster %q ...\n", "a")
	for _, step := range []string{"Ensuring node image (node:v1) 🖼️", "Preparing nodes 📦 ",
		"Writing configuration 📜",
		"Starting control-plane 🕹️", "Installing CNI 🔌", "Installing StorageClass 💾"} {
		s.V(0).Infof(" • %s  ...\n", step)
		s.V(0).Infof(" ✓ %s\n", step)
	}
	s.V(1).Info("for the log")
	s.V(5).Info("too much for the log")
	s.Warn("old")
	s.waiting("waiting")
	require.Equal(t, []progress{
		{"Ensuring node image (node:v1)", 0, 7}, {"Preparing nodes", 1, 7}, {"Writing configuration", 2, 7},
		{"Starting control-plane", 3, 7},
		{"Installing CNI", 4, 7}, {"Installing StorageClass", 5, 7}, {"waiting", 6, 7},
	}, seen)
	log.failure(errors.Wrap(&exec.RunError{Command: []string{"docker"}, Output: []byte("its words"),
		Inner: errors.New("exit 1")}, "tried"))
	require.NoError(t, log.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, want := range []string{"Preparing nodes", "for the log", "warning: old", "its words"} {
		require.Contains(t, string(content), want)
	}
	require.NotContains(t, string(content), "too much")
}

func TestALinkInThePlaceOfTheLogIsNotFollowed(t *testing.T) {
	t.Parallel()
	document := filepath.Join(t.TempDir(), "thesis.txt")
	require.NoError(t, os.WriteFile(document, []byte("years"), 0o600))
	link := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.Symlink(document, link))
	_, err := openLog(link)
	require.ErrorContains(t, err, "is a symbolic link")
	content, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Equal(t, "years", string(content))
}

func TestFailuresOfTheEngineHaveANextStep(t *testing.T) {
	t.Parallel()
	p := New(Config{Dir: "/a", LogFile: "/a/log"})
	for output, hint := range map[string]string{
		"write /x: no space left on device":                             "make room on the disk",
		"Bind for 127.0.0.1:80 failed: port is already allocated":       "choose another in the file",
		"failed to bind host port 127.0.0.1:80: address already in use": "choose another in the file",
		"Cannot connect to the Docker daemon at unix:///x":              "start the container engine",
		"failed to create fsnotify watcher: too many open files":        "raise the limits of inotify",
		"something else": "see /a/log",
	} {
		err := p.explain(errors.Wrap(&exec.RunError{Command: []string{"docker"},
			Output: []byte("begin\n" + output + "\n"), Inner: errors.New("exit 1")}, "tried"))
		var known *cluster.HintError
		require.ErrorAs(t, err, &known)
		require.Contains(t, known.Hint, hint)
		require.EqualError(t, err, "tried: begin\n"+output)
	}
	require.EqualError(t, p.explain(&exec.RunError{Command: []string{"docker", "run", "--name", "a"},
		Output: []byte("no"), Inner: errors.New("exit 1")}),
		"docker run failed: no")
	far := "no space left on device\n" + strings.Repeat("and more\n", 2*shownLines)
	var known *cluster.HintError
	require.ErrorAs(t, p.explain(&exec.RunError{Command: []string{"docker", "run"}, Output: []byte(far),
		Inner: errors.New("exit 1")}), &known)
	require.Contains(t, known.Hint, "make room", "although its words are not shown")
	var taken *foreignError
	require.ErrorAs(t, p.explain(errors.New(`node(s) already exist for a cluster with the name "a"`)), &taken)
}

func TestTheShownOutputIsBounded(t *testing.T) {
	t.Parallel()
	long := make([]byte, 2*searchedBytes)
	for i := range long {
		long[i] = "x\n"[i%2]
	}
	require.Len(t, lastLines(long), 2*shownLines-1)
	require.Len(t, lastLines([]byte(strings.Repeat("x", 2*shownInLine))), shownInLine+len(" … "))
}

func TestStackTracesAreNotShown(t *testing.T) {
	t.Parallel()
	require.Equal(t, "error: the API does not answer\nto see the stack trace use --v=5",
		lastLines([]byte("error: the API does not "+
			"answer\nmain.main\n\tkubeadm.go:25\nruntime.(*T).goexit\n\tasm.s:1771\n"+
			"to see the stack trace use --v=5\n")))
}
