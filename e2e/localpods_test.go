// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
)

// kubectl prepares a command of Kubernetes' own kubectl on the environment's cluster.
func (e *environment) kubectl(args ...string) *exec.Cmd {
	e.t.Helper()
	program := os.Getenv("PIPEDECK_KUBECTL")
	require.NotEmpty(e.t, program, "run the stories with: make e2e")
	args = append([]string{"--kubeconfig", e.Dir("kubeconfig")}, args...)
	cmd := exec.CommandContext(e.t.Context(), program, args...)
	cmd.Dir = e.t.TempDir()
	return cmd
}

// kubectlOutput runs kubectl to its end, which has to be a good one.
func (e *environment) kubectlOutput(args ...string) string {
	e.t.Helper()
	result, err := drive.Run(e.kubectl(args...))
	require.NoError(e.t, err)
	require.Zero(e.t, result.Code, "kubectl %s: %s", strings.Join(args, " "), result.Stderr)
	return result.Stdout
}

// helloWorld starts an environment with the sample and waits until it is deployed.
func (e *environment) helloWorld(flags ...string) *stream {
	e.t.Helper()
	s := e.start(append([]string{"up", "--sample", "hello-world", "--cluster", "embedded"}, flags...)...)
	s.await("hello-world is deployed", func(v event) bool {
		return v.is("deployment", "app", "hello-world", "status", "SUCCESS")
	})
	return s
}

// pod returns the name of one of hello-world's pods.
func (e *environment) pod() string {
	e.t.Helper()
	return strings.Fields(e.kubectlOutput("get", "pods", "-l", "app=hello-world", "-o", "name"))[0]
}

func TestKubectlReachesTheProcessesOfHelloWorld(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.helloWorld()
	pod := e.pod()
	name := strings.TrimPrefix(pod, "pod/")

	require.Contains(t, e.kubectlOutput("logs", pod), "listening on")
	require.Regexp(t, `^\S+Z .*listening on`, e.kubectlOutput("logs", pod, "--tail=1", "--timestamps"))

	require.Equal(t, "Hello, world! of "+name+"\n",
		e.kubectlOutput("exec", pod, "--", "sh", "-c", `echo "$GREETING of $HOSTNAME"`))
	failing, err := drive.Run(e.kubectl("exec", pod, "--", "sh", "-c", "exit 3"))
	require.NoError(t, err)
	require.Equal(t, 3, failing.Code, failing.Stderr)
	shell := openTerminal(t, e.kubectl("exec", "-it", pod, "--", "sh"), 80, 24)
	shell.presses("echo $((6*7)) $(stty size)\r")
	shell.sees(`42 24 80`)
	shell.presses("exit\r")
	require.Zero(t, shell.wait())

	file := filepath.Join(t.TempDir(), "note")
	require.NoError(t, os.WriteFile(file, []byte("a note"), 0o600))
	e.kubectlOutput("cp", file, name+":note")
	require.Equal(t, "a note", e.kubectlOutput("exec", pod, "--", "cat", "note"))
	e.kubectlOutput("cp", name+":note", file+".back")
	back, err := os.ReadFile(file + ".back")
	require.NoError(t, err)
	require.Equal(t, "a note", string(back))

	require.Contains(t, e.get(e.forward(pod)), "Hello, world! (version v1, build ")

	following := e.kubectl("logs", "-f", pod)
	output, err := following.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, following.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "listening on")
	e.kubectlOutput("delete", pod)
	_, err = io.Copy(io.Discard, output)
	require.NoError(t, errors.Join(err, following.Wait()), "it ends with the pod")
	require.Zero(t, e.pipedeck("down").Code)
	e.leavesNothing()
}

// forward forwards a port of this machine to port 8080 of a pod, and returns the address.
func (e *environment) forward(pod string) string {
	e.t.Helper()
	cmd := e.kubectl("port-forward", pod, ":8080")
	output, err := cmd.StdoutPipe()
	require.NoError(e.t, err)
	require.NoError(e.t, cmd.Start())
	e.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(e.t, err)
	found := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line)
	require.NotEmpty(e.t, found, line)
	return "http://" + found
}

// get returns what answers at an address with 200.
func (e *environment) get(url string) string {
	e.t.Helper()
	body, err := fetch(e.t.Context(), url)
	require.NoError(e.t, err)
	return body
}

func fetch(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Close = true // a new connection for each request, as curl makes
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}

// asking asks an address again and again until stop is called, which returns the answers that were no greeting.
func asking(ctx context.Context, url string) (stop func() (asked int, wrong []string)) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	asked, wrong := 0, []string{}
	running.Go(func() {
		for pace := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				pace.Stop()
				return
			case <-pace.C:
			}
			body, err := fetch(ctx, url)
			switch asked++; {
			case ctx.Err() != nil:
			case err != nil:
				wrong = append(wrong, err.Error())
			case !strings.HasPrefix(body, "Hello, world!"):
				wrong = append(wrong, body)
			}
		}
	})
	return func() (int, []string) {
		cancel()
		running.Wait()
		return asked, wrong
	}
}

func TestAProgramThatCrashesFailsItsRolloutAndTheAddressGoesOnAnswering(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.helloWorld()
	url := strings.TrimSpace(e.pipedeck("open", "hello-world").Stdout)
	require.Contains(t, e.get(url), "Hello, world!")
	stop := asking(t.Context(), url)

	e.edit("hello-world/main.go", "func main() {\n", "func main() {\n\tlog.Fatal(\"the database is not there\")\n",
		"Crash")
	broken := e.git("rev-parse", "HEAD")
	s.await("the program's own last line is in the stage log", func(v event) bool {
		text, _ := v["text"].(string)
		return v.is("log") && strings.Contains(text, "the database is not there")
	})
	s.await("the rollout fails", func(v event) bool {
		return v.is("deployment", "app", "hello-world", "commit", broken, "status", "FAILURE")
	})
	asked, wrong := stop()
	require.Empty(t, wrong)
	require.Greater(t, asked, 10)
	require.Contains(t, e.get(url), "Hello, world!")
}

func TestWithoutLocalPodsEveryPodIsSimulated(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.helloWorld("--local-pods=false")
	require.Contains(t, e.kubectlOutput("logs", e.pod()), "This pod is simulated")
	require.Contains(t, e.kubectlOutput("get", e.pod(), "-o", "yaml"), "pipedeck.dev/simulated")
	exec, err := drive.Run(e.kubectl("exec", e.pod(), "--", "true"))
	require.NoError(t, err)
	require.NotZero(t, exec.Code)
	require.Contains(t, exec.Stderr, "this pod is simulated")
}
