// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	clientexec "k8s.io/client-go/util/exec"
)

// patience bounds every wait.
const patience = time.Minute

// node has the pods web, which runs in dir, and simulated.
type node struct {
	dir   string
	log   *containerLog
	ended chan struct{}
	// tracked gets the process of each program that is started; forgotten its end.
	tracked, forgotten chan int
	// ports are the addresses of web's ports.
	ports map[int32]string
	url   string
}

func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{
		dir: t.TempDir(), log: newLog(t), ended: make(chan struct{}), tracked: make(chan int, 16),
		forgotten: make(chan int, 16), ports: map[int32]string{},
	}
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for name, annotations := range map[string]map[string]string{"web": nil, "simulated": {simulatedKey: "true"}} {
		require.NoError(t, pods.Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: name, UID: types.UID(name), Annotations: annotations,
			},
			Status: corev1.PodStatus{PodIP: "10.244.0.7"},
		}))
	}
	server := New(Config{Pods: corelisters.NewPodLister(pods), Containers: n, Addresses: n})
	served := httptest.NewServer(server.routes())
	t.Cleanup(served.Close)
	n.url = served.URL
	return n
}

func (n *node) Output(pod types.UID, container string, previous bool) (Output, error) {
	if pod != "web" || container != "main" || previous {
		return Output{}, ErrNotFound
	}
	return n.log.output(n.ended), nil
}

func (n *node) Inside(pod types.UID, container string) (Inside, error) {
	if pod != "web" || container != "main" {
		return Inside{}, ErrNotFound
	}
	return Inside{
		Dir: n.dir, Root: n.dir, Env: []string{"PATH=" + os.Getenv("PATH"), "GREETING=hello"}, Ended: n.ended,
		Launch: func(command *exec.Cmd) (func(), error) {
			if err := command.Start(); err != nil {
				return nil, err
			}
			pid := command.Process.Pid
			n.tracked <- pid
			return func() { n.forgotten <- pid }, nil
		},
	}, nil
}

func (n *node) HostPort(podIP string, port int32) (string, error) {
	if address, ok := n.ports[port]; ok && podIP == "10.244.0.7" {
		return address, nil
	}
	return "", errors.New("it does not listen")
}

// get returns an answer that is no stream.
func (n *node) get(t *testing.T, path string) (code int, body string) {
	t.Helper()
	response, err := http.Get(n.url + path)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}

// exec runs a command as kubectl does behind the API server.
func (n *node) exec(t *testing.T, ctx context.Context, options remotecommand.StreamOptions, command ...string) error {
	t.Helper()
	query := url.Values{"command": command, "output": {"1"}}
	for name, set := range map[string]bool{
		"input": options.Stdin != nil, "error": options.Stderr != nil, "tty": options.Tty,
	} {
		if set {
			query.Set(name, "1")
		}
	}
	at, err := url.Parse(n.url + "/exec/default/web/main?" + query.Encode())
	require.NoError(t, err)
	executor, err := remotecommand.NewSPDYExecutor(&rest.Config{Host: n.url}, "POST", at)
	require.NoError(t, err)
	return executor.StreamWithContext(ctx, options)
}

func TestLogsAreServed(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.log.write(t, "stdout", "F", "one")
	n.log.write(t, "stdout", "F", "two")
	for path, want := range map[string]string{
		"web/main":             "one\ntwo\n",
		"web/main?tailLines=1": "two\n",
		"web/main?timestamps=true&limitBytes=34&tailLines=1":  "2026-01-02T03:04:06.000000000Z two",
		"web/main?sinceTime=2026-01-02T03:04:06Z&stream=All":  "two\n",
		"web/main?sinceSeconds=1&pretty=true&timestamps=true": "",
		"simulated/main": simulatedLog,
	} {
		code, body := n.get(t, "/containerLogs/default/"+path)
		require.Equal(t, http.StatusOK, code, path)
		require.Equal(t, want, body, path)
	}
	for path, want := range map[string]int{
		"web/main?previous=true": http.StatusBadRequest, "web/other": http.StatusBadRequest,
		"web/main?tailLines=-1": http.StatusBadRequest, "web/main?follow=perhaps": http.StatusBadRequest,
		"web/main?sinceTime=today": http.StatusBadRequest, "web/main?stream=none": http.StatusBadRequest,
		"gone/main": http.StatusNotFound,
	} {
		code, body := n.get(t, "/containerLogs/default/"+path)
		require.Equal(t, want, code, path)
		require.NotEmpty(t, body, path)
	}
	for _, path := range []string{"/exec/default/simulated/main?command=x", "/attach/default/simulated/main",
		"/portForward/default/simulated"} {
		code, body := n.get(t, path)
		require.Equal(t, http.StatusNotImplemented, code, path)
		require.Contains(t, body, "this pod is simulated")
	}
}

func TestALogThatIsFollowedArrivesLineByLine(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.log.write(t, "stdout", "F", "one")
	response, err := http.Get(n.url + "/containerLogs/default/web/main?follow=true")
	require.NoError(t, err)
	defer response.Body.Close()
	got := make([]byte, 4)
	_, err = io.ReadFull(response.Body, got)
	require.NoError(t, err)
	require.Equal(t, "one\n", string(got))
	n.log.write(t, "stdout", "F", "two")
	close(n.ended)
	rest, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, "two\n", string(rest))
}

func TestACommandRunsInTheSurroundingsOfTheContainer(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var out, errOut bytes.Buffer
	require.NoError(t, n.exec(t, t.Context(),
		remotecommand.StreamOptions{Stdin: strings.NewReader("typed"), Stdout: &out, Stderr: &errOut},
		"sh", "-c", `echo "$GREETING in $PWD, $(cat)"; echo problem >&2`))
	dir, err := filepath.EvalSymlinks(n.dir)
	require.NoError(t, err)
	require.Equal(t, "hello in "+dir+", typed\n", out.String())
	require.Equal(t, "problem\n", errOut.String())
	require.Equal(t, <-n.tracked, <-n.forgotten)
}

func TestTheExitCodeOfACommandArrives(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	for command, want := range map[string]int{"exit 3": 3, "kill -TERM $$": exitSignal + int(syscall.SIGTERM)} {
		err := n.exec(t, t.Context(), remotecommand.StreamOptions{Stdout: io.Discard, Stderr: io.Discard},
			"sh", "-c", command)
		var exit clientexec.CodeExitError
		require.ErrorAs(t, err, &exit, command)
		require.Equal(t, want, exit.Code, command)
	}
	var errOut bytes.Buffer
	err := n.exec(t, t.Context(), remotecommand.StreamOptions{Stdout: io.Discard, Stderr: &errOut}, "no-such-program")
	var exit clientexec.CodeExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, exitNotStarted, exit.Code)
	require.Contains(t, errOut.String(), "no-such-program")
}

func TestACommandEndsWithItsClientAndWithItsContainer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*node, context.CancelFunc){
		"the client goes":    func(_ *node, cancel context.CancelFunc) { cancel() },
		"the container ends": func(n *node, _ context.CancelFunc) { close(n.ended) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			result := make(chan error, 1)
			go func() {
				result <- n.exec(t, ctx, remotecommand.StreamOptions{Stdout: io.Discard},
					"sh", "-c", "sleep 600 & wait")
			}()
			pid := <-n.tracked
			end(n, cancel)
			require.Error(t, <-result)
			require.Equal(t, pid, <-n.forgotten)
			require.Eventually(t, func() bool { return errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH) }, patience,
				10*time.Millisecond, "no process of the group is left")
		})
	}
}

// sizes gives a terminal's size once, then waits for the end.
type sizes struct {
	size chan remotecommand.TerminalSize
}

func (s sizes) Next() *remotecommand.TerminalSize {
	size, ok := <-s.size
	if !ok {
		return nil
	}
	return &size
}

func TestACommandGetsATerminalOfTheUsersSize(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	queue := sizes{make(chan remotecommand.TerminalSize, 1)}
	queue.size <- remotecommand.TerminalSize{Width: 123, Height: 45}
	defer close(queue.size)
	var out bytes.Buffer
	require.NoError(t, n.exec(t, t.Context(), remotecommand.StreamOptions{
		Stdin: strings.NewReader("line\n"), Stdout: &out, Tty: true, TerminalSizeQueue: queue,
	}, "sh", "-c", `read line; echo "got $line on $TERM"; test -t 0 || exit 1
until [ "$(stty size)" = "45 123" ]; do :; done; stty size`))
	require.Contains(t, out.String(), "got line on xterm\r\n")
	require.Contains(t, out.String(), "45 123\r\n")
}

func TestAttachShowsWhatComes(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.log.write(t, "stdout", "F", "before")
	at, err := url.Parse(n.url + "/attach/default/web/main?output=1")
	require.NoError(t, err)
	executor, err := remotecommand.NewSPDYExecutor(&rest.Config{Host: n.url}, "POST", at)
	require.NoError(t, err)
	read, write := io.Pipe()
	result := make(chan error, 1)
	go func() {
		err := executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: write})
		write.CloseWithError(err)
		result <- err
	}()
	first, all := make(chan struct{}), make(chan string, 1)
	go func() {
		begin := make([]byte, 1)
		_, _ = io.ReadFull(read, begin)
		close(first)
		content, _ := io.ReadAll(read)
		all <- string(begin) + string(content)
	}()
	// What is written before the connection stands is not shown, so lines are written until something is.
	for i := 0; !isClosed(first); i++ {
		n.log.write(t, "stdout", "F", "line "+strconv.Itoa(i))
	}
	close(n.ended)
	require.NoError(t, <-result)
	shown := <-all
	require.NotContains(t, shown, "before")
	require.True(t, strings.HasPrefix(shown, "line "), shown)
}

func TestAPortIsForwardedToTheProcess(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer web.Close()
	n.ports[8080] = web.Listener.Addr().String()
	transport, upgrader, err := spdy.RoundTripperFor(&rest.Config{Host: n.url})
	require.NoError(t, err)
	at, err := url.Parse(n.url + "/portForward/default/web")
	require.NoError(t, err)
	ready := make(chan struct{})
	var errOut bytes.Buffer
	forward, err := portforward.New(spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", at),
		[]string{"0:8080", "0:9"}, t.Context().Done(), ready, io.Discard, &errOut)
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() { result <- forward.ForwardPorts() }()
	<-ready
	ports, err := forward.GetPorts()
	require.NoError(t, err)
	for range 3 {
		response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", ports[0].Local))
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, errors.Join(err, response.Body.Close()))
		require.Equal(t, "hello", string(body))
	}
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[1].Local))
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err, "nothing answers there")
	require.NoError(t, conn.Close())
	require.ErrorIs(t, <-result, portforward.ErrLostConnectionToPod, "so kubectl ends")
}

func TestTheCommandsOfACopyMeanThePodsDirectory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, want string }{
		"a directory is looked for": {"test -d /etc/app", "test -d /pod/etc/app"},
		"files are written":         {"tar -xmf - -C /etc/app", "tar -xmf - -C /pod/etc/app"},
		"files are written without owners": {"tar --no-same-permissions --no-same-owner -xmf - -C /etc",
			"tar --no-same-permissions --no-same-owner -xmf - -C /pod/etc"},
		"files are read":           {"tar cf - /etc/app", "tar cf - -C /pod etc/app"},
		"everything is read":       {"tar cf - /", "tar cf - -C /pod ."},
		"relative paths":           {"tar cf - data", "tar cf - data"},
		"no directory":             {"tar -xmf -", "tar -xmf -"},
		"a command of the user":    {"cat /etc/hostname", "cat /etc/hostname"},
		"tar as a user writes it":  {"tar -czf - /etc/app", "tar -czf - /etc/app"},
		"a test as a user does it": {"test -f /etc/app", "test -f /etc/app"},
	} {
		require.Equal(t, strings.Fields(c.want), copyWithin("/pod", strings.Fields(c.command)), name)
	}
	require.Equal(t, []string{"test", "-d", "/etc"}, copyWithin("", []string{"test", "-d", "/etc"}))
}

func TestFilesAreCopiedIntoThePodAndBack(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tar"); err != nil {
		t.Skip("there is no tar on this machine")
	}
	n := newNode(t)
	require.NoError(t, os.MkdirAll(filepath.Join(n.dir, "etc", "app"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(n.dir, "etc", "app", "key"), []byte("value"), 0o600))
	var archive, errOut bytes.Buffer
	require.NoError(t, n.exec(t, t.Context(), remotecommand.StreamOptions{Stdout: &archive, Stderr: &errOut},
		"tar", "cf", "-", "/etc/app"))
	require.Empty(t, errOut.String())
	require.NoError(t, os.Mkdir(filepath.Join(n.dir, "copy"), 0o700))
	require.NoError(t, n.exec(t, t.Context(), remotecommand.StreamOptions{Stdin: &archive, Stdout: io.Discard},
		"tar", "-xmf", "-", "-C", "/copy"))
	content, err := os.ReadFile(filepath.Join(n.dir, "copy", "etc", "app", "key"))
	require.NoError(t, err)
	require.Equal(t, "value", string(content))
}
