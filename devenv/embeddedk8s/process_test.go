// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/cluster"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
)

// actAsProgram makes the test binary be the program: a real process, without linking kube-apiserver a second time.
const actAsProgram = "EMBEDDEDK8S_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(actAsProgram) != "" {
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// patience bounds every wait. A start takes about a second on an idle machine; a loaded one may need many times that.
const patience = time.Minute

// process is the program running on a data directory.
type process struct {
	command    *exec.Cmd
	kubeconfig string
	stdin      io.Closer
	events     chan line     // closed when standard output ends
	exited     chan struct{} // closed when the process has ended
}

// startProcess starts the program; the test's end kills it.
func startProcess(t *testing.T, dir string, arguments ...string) *process {
	t.Helper()
	p := &process{
		kubeconfig: filepath.Join(dir, "kubeconfig"),
		events:     make(chan line, 16), // more than a run has
		exited:     make(chan struct{}),
	}
	executable, err := os.Executable()
	require.NoError(t, err)
	arguments = append([]string{"--data-dir", filepath.Join(dir, "data"), "--kubeconfig", p.kubeconfig}, arguments...)
	p.command = exec.Command(executable, arguments...)
	p.command.Env = append(os.Environ(), actAsProgram+"=1")
	p.stdin, err = p.command.StdinPipe()
	require.NoError(t, err)
	stdout, err := p.command.StdoutPipe()
	require.NoError(t, err)
	log, err := os.CreateTemp(t.TempDir(), "stderr")
	require.NoError(t, err)
	p.command.Stderr = log
	require.NoError(t, p.command.Start())

	go func() {
		defer close(p.exited)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			var event line
			if json.Unmarshal(lines.Bytes(), &event) == nil {
				p.events <- event
			}
		}
		close(p.events)
		_ = p.command.Wait()
	}()
	t.Cleanup(func() {
		p.kill()
		// What a killed one leaves: nothing else ends it here.
		containers.NewGroups(filepath.Join(dir, "data", "pods")).Close()
		_ = log.Close()
		if t.Failed() {
			content, _ := os.ReadFile(log.Name())
			t.Logf("end of standard error of the program:\n%s", content[max(0, len(content)-8<<10):])
		}
	})
	return p
}

// kill is what kill -9 does. The process may have ended already.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.exited
}

// await returns the event of that name.
func (p *process) await(t *testing.T, name string) line {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case event, ok := <-p.events:
			require.Truef(t, ok, "the program ended before event %q", name)
			if event.Event == name {
				return event
			}
		case <-deadline:
			require.FailNowf(t, "no event", "no %q within %s", name, patience)
		}
	}
}

// awaitExit returns the exit code.
func (p *process) awaitExit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		require.FailNow(t, "the program does not end")
	}
	return p.command.ProcessState.ExitCode()
}

// client is a client made from the kubeconfig the program wrote.
func (p *process) client(t *testing.T) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	require.NoError(t, err)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// startReady starts the program and waits until it looks after workloads.
func startReady(t *testing.T, dir string, arguments ...string) *process {
	t.Helper()
	p := startProcess(t, dir, arguments...)
	p.await(t, cluster.EventControllers)
	return p
}
