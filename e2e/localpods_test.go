// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
	"github.com/pipedeck/pipedeck/system/logtest"
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
	e.kubectlOutput("cp", file, name+":/tmp/note")
	e.kubectlOutput("cp", file, name+":note")
	require.Equal(t, "a note", e.kubectlOutput("exec", pod, "--", "cat", "note"))
	e.kubectlOutput("cp", name+":note", file+".back")
	back, err := os.ReadFile(file + ".back")
	require.NoError(t, err)
	require.Equal(t, "a note", string(back))

	require.Contains(t, e.get(e.forward(pod)), "Hello, world! (version v1, build ")

	require.Regexp(t, name+`\s+\d+m\s+\d+Mi`, e.kubectlOutput("top", "pods"))
	require.Regexp(t, `embedded\s+\d+m\s+`, e.kubectlOutput("top", "nodes"))

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

// Clients ask both applications of the sample all the while: an ordinary rollout loses no request, and a program that
// crashes takes the place of none that answers.
func TestTheAddressAnswersThroughARolloutAndThroughACrash(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.helloWorld()
	s.await("and so is the other", deployed("hello-world-quick", "SUCCESS"))
	urls := []string{e.open("hello-world"), e.open("hello-world-quick")}
	var crowds []*crowd
	for _, url := range urls {
		require.Contains(t, e.get(url), "Hello, world! (version v1, ")
		crowds = append(crowds, newCrowd(t, url))
	}

	good := replaceAndCommit(t, e.Dir("repository"), "value: Hello, world!", "value: Good morning!",
		"hello-world/deployment.yaml", "hello-world-quick/deployment.yaml")
	s.await("the canary waits for an approval", waits("hello-world"))
	require.Zero(t, e.pipedeck("approve").Code)
	for i, app := range []string{"hello-world", "hello-world-quick"} {
		s.await("the new greeting is everywhere", deployed(app, "SUCCESS", "commit", good))
		require.Contains(t, e.get(urls[i]), "Good morning! (version v1, ")
	}

	e.edit("hello-world/main.go", "func main() {\n", "func main() {\n\tlog.Fatal(\"the database is not there\")\n",
		"Crash")
	broken := e.git("rev-parse", "HEAD")
	for _, app := range []string{"hello-world", "hello-world-quick"} {
		failed := s.await("the rollout fails", deployed(app, "FAILURE", "commit", broken))
		s.await("the program's own last line is in the log of the stage", func(v event) bool {
			text, _ := v["text"].(string)
			return v.is("log", "deployment", failed["id"].(string), "severity", "ERROR") &&
				strings.Contains(text, "the database is not there")
		})
		s.await("it is rolled back", func(v event) bool {
			return v.is("stage", "deployment", failed["id"].(string), "name", "K8S_ROLLBACK", "status", "SUCCESS")
		})
	}
	for i, c := range crowds {
		counts := map[string]int{}
		for _, answers := range c.leave() {
			for _, page := range answers {
				greeting, _, _ := strings.Cut(page, " (version v1, ")
				counts[greeting]++
			}
		}
		t.Logf("requests for %s: %v", urls[i], counts)
		require.Equal(t, []string{"Good morning!", "Hello, world!"}, slices.Sorted(maps.Keys(counts)))
		require.Contains(t, e.get(urls[i]), "Good morning! (version v1, ")
	}
}

// talker is the program of the sample, which also says and crashes what it is asked to.
func talker(t *testing.T) string {
	t.Helper()
	const routes = "mux := http.NewServeMux()\n"
	program := helloProgram(t)
	require.Contains(t, program, routes)
	return strings.Replace(program, routes, routes+`
	mux.HandleFunc("GET /say", func(http.ResponseWriter, *http.Request) { log.Print("asked to speak") })
	mux.HandleFunc("GET /crash", func(http.ResponseWriter, *http.Request) { log.Fatal("asked to crash") })
`, 1)
}

func TestKubectlFollowsAProcessUntilItCrashesAndReadsItsLastWords(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", repository(t, map[string]string{
		"go.mod": "module sample\n\ngo 1.26\n", "web/main.go": talker(t), "web/app.pipecd.yaml": application("web", ""),
		"web/deployment.yaml": strings.NewReplacer("NAME", "web", "replicas: 2", "replicas: 1").Replace(webDeployment),
		"web/service.yaml":    strings.NewReplacer("NAME", "web", "SELECTOR", "app: web").Replace(webService),
	}))
	s.await("it is deployed", deployed("web", "SUCCESS"))
	url := e.open("web")
	pod := strings.TrimSpace(e.kubectlOutput("get", "pods", "-l", "app=web", "-o", "name"))
	early, err := drive.Run(e.kubectl("logs", pod, "--previous"))
	require.NoError(t, err)
	require.NotZero(t, early.Code)
	require.Contains(t, early.Stderr, "previous terminated container")

	attached, following := e.watch("attach", pod), e.watch("logs", "-f", pod)
	waitUntil(t, "both show what the program says from now on", func() bool {
		e.get(url + "/say")
		return strings.Contains(attached.output.String(), "asked to speak") &&
			strings.Contains(following.output.String(), "asked to speak")
	})
	require.NotContains(t, attached.output.String(), "listening on", "that was before")
	require.Contains(t, following.output.String(), "listening on")

	_, err = fetch(newClient(false), url+"/crash")
	require.Error(t, err)
	for _, watching := range []*watching{attached, following} {
		require.NoError(t, watching.cmd.Wait(), "it ends with the process: %s", watching.output.String())
		require.Contains(t, watching.output.String(), "asked to crash")
	}
	waitUntil(t, "it runs again", func() bool {
		_, err := fetch(newClient(false), url)
		return err == nil
	})
	require.Equal(t, "1", e.kubectlOutput("get", pod, "-o", "jsonpath={.status.containerStatuses[0].restartCount}"))
	require.Contains(t, e.kubectlOutput("logs", "--previous", pod), "asked to crash")
	again := e.kubectlOutput("logs", pod)
	require.Contains(t, again, "listening on")
	require.NotContains(t, again, "asked to crash")
	require.Zero(t, e.pipedeck("down").Code)
	e.leavesNothing()
}

// watching is a kubectl that goes on printing.
type watching struct {
	cmd    *exec.Cmd
	output logtest.Buffer
}

func (e *environment) watch(args ...string) *watching {
	e.t.Helper()
	w := &watching{cmd: e.kubectl(args...)}
	w.cmd.Stdout, w.cmd.Stderr = &w.output, &w.output
	require.NoError(e.t, w.cmd.Start())
	return w
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

// The address is printed by what starts the environment, and scripts of pipelines find it: one is a smoke test.
func TestThePrintedAddressAnswersAndScriptsFindIt(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	cmd := e.command("up", "--sample", "hello-world", "--output", "plain")
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(output); s.Scan(); {
			lines <- s.Text()
		}
	}()
	url := ""
	for url == "" {
		select {
		case line, more := <-lines:
			require.True(t, more, "it ends")
			if found := regexp.MustCompile(`application  hello-world-quick  .*  answers at (http://\S+)$`).
				FindStringSubmatch(line); found != nil {
				url = found[1]
			}
		case <-time.After(patience):
			require.Fail(t, "no address is printed")
		}
	}
	require.Contains(t, e.get(url), "Hello, world! (version v1, ", "it answers at once")
	require.Equal(t, url, e.open("hello-world-quick"))
	go func() {
		for range lines { // so that it can go on writing
		}
	}()

	s := e.start("attach")
	e.edit("hello-world-quick/app.pipecd.yaml", "spec:\n", "spec:\n  planner: {alwaysUsePipeline: true}\n  pipeline:\n"+
		"    stages:\n      - {name: K8S_SYNC}\n      - {name: SCRIPT_RUN, id: smoke, with: {run: 'curl -fsS "+
		"\"$PIPEDECK_SERVICE_DEFAULT_HELLO_WORLD_QUICK_URL\"; . \"$PIPEDECK_SERVICES_FILE\"'}}\n", "Add a smoke test")
	s.await("the smoke test passes", deployed("hello-world-quick", "SUCCESS", "commit", e.git("rev-parse", "HEAD")))
	log := e.pipedeck("logs", "hello-world-quick", "--stage", "smoke").Stdout
	require.Contains(t, log, "Hello, world! (version v1, ")
	require.Zero(t, e.pipedeck("down").Code)
	require.NoError(t, cmd.Wait())
	e.leavesNothing()
}

func TestTheLogOfAPodIsReadInTheTerminal(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.helloWorld()
	tty := openTerminal(t, e.command("attach"), 140, 40)
	tty.sees(`2 Deployment`)
	tty.presses("t")
	tty.sees(`Pod hello-world-`)
	tty.presses("Gk") // the Service is last
	tty.presses("L")
	tty.sees(`Log . pod hello-world-`)
	tty.sees(`listening on 127\.0\.0\.1:\d+`)
	tty.presses("\x1b")
	tty.sees(`Resources of hello-world`)
	tty.presses("q")
	tty.sees(`Leave pipedeck`)
	tty.presses("y")
	require.Zero(t, tty.wait())
	require.Zero(t, e.pipedeck("down").Code)
	e.leavesNothing()
}
