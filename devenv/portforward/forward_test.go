// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	gwebsocket "github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

const (
	httpPort = "{name: http, port: 80}"
	dataPort = "{name: data, port: 90}"
	moment   = time.Minute
)

// until waits for a condition, in the test's own goroutine.
func until(t *testing.T, done func() bool) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(moment); !done(); <-again.C {
		require.True(t, time.Now().Before(deadline), "it never happens")
	}
}

// ask sends a request on a client's kept connection.
func ask(t *testing.T, client *http.Client, method, url, body string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if body == "" {
		request.Body = http.NoBody
	}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(read)
}

func newClient(t *testing.T) *http.Client {
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func TestRequestsTakeTurnsAlsoOnOneConnection(t *testing.T) {
	t.Parallel()
	for name, noWebSocket := range map[string]bool{"by WebSocket": false, "by SPDY alone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, testLimits)
			p.kubelet.noWebSocket = noWebSocket
			p.service(httpPort)
			p.pod("a", backend(t, says("a")))
			p.pod("b", backend(t, says("b")))
			a, err := p.open("")
			require.NoError(t, err)
			require.Equal(t, "Service default/web, port http, 2 of 2 pods ready", a.Detail)
			client, seen := newClient(t), map[string]int{}
			for range 10 {
				status, text := ask(t, client, http.MethodGet, a.URL+"/x?q=%zz;1", "")
				require.Equal(t, http.StatusOK, status)
				require.Equal(t, " GET /x?q=%zz;1", text[1:], "the request arrives as it was")
				seen[text[:1]]++
			}
			require.Equal(t, map[string]int{"a": 5, "b": 5}, seen)
			until(t, func() bool { return p.kubelet.tunnels.Load() == 2 }) // each pod keeps one
			require.Equal(t, a.URL, p.url("80"), "it is the same port")
		})
	}
}

func TestWhatAPodHasNotReceivedGoesToAnother(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	p.service(httpPort + "," + dataPort)
	p.pod("a", "")
	p.pod("b", backend(t, says("b")))
	for range 4 {
		status, text := ask(t, newClient(t), http.MethodPost, p.url(""), " once")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "b POST / once", text)
	}
	for range 2 {
		conn, err := net.Dial("tcp", p.url("data"))
		require.NoError(t, err)
		_, err = io.WriteString(conn, "GET /tcp HTTP/1.0\r\n\r\n")
		require.NoError(t, err)
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Contains(t, string(answer), "b GET /tcp")
		require.NoError(t, conn.Close())
	}
}

func TestWhatIsTooLongToBeKeptIsNotSentTwice(t *testing.T) {
	t.Parallel()
	broken := &stream{data: deadStream{}}
	c := &connection{stream: broken, sent: make([]byte, maxReplay)}
	_, err := c.Write([]byte("x"))
	require.Error(t, err, "no one can repeat it, so the writer has to know")
	require.Nil(t, c.sent, "nothing is kept beyond the bound")
	require.False(t, c.move(broken))
}

func TestAConnectionIntoAPodThatIsGoneIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	p.service(httpPort)
	hanging, over := make(chan struct{}, 1), make(chan struct{})
	p.pod("a", backend(t, func(http.ResponseWriter, *http.Request) {
		hanging <- struct{}{}
		<-over
	}))
	t.Cleanup(func() { close(over) })
	url := p.url("")
	answered := make(chan string, 1)
	client := newClient(t)
	go func() {
		_, text := ask(t, client, http.MethodGet, url, "")
		answered <- text
	}()
	<-hanging
	p.pod("b", backend(t, says("b")))
	p.remove("a")
	select {
	case text := <-answered:
		require.Equal(t, "b GET /", text)
	case <-time.After(moment):
		t.Fatal("the request still waits for a pod that is gone")
	}
}

func TestOnlyNamesOfThisMachineAreAnswered(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	p.service(httpPort)
	p.pod("a", backend(t, says("a")))
	url := p.url("")
	address := strings.TrimPrefix(url, "http://")
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	for host, status := range map[string]int{
		address: http.StatusOK, "localhost:" + port: http.StatusOK, "LOCALHOST:" + port: http.StatusOK,
		"evil.example:" + port: http.StatusMisdirectedRequest, "evil.example": http.StatusMisdirectedRequest,
		"127.0.0.1": http.StatusMisdirectedRequest, "127.0.0.1:1": http.StatusMisdirectedRequest,
		"localhost.evil.example:" + port: http.StatusMisdirectedRequest,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		request.Host = host
		response, err := newClient(t).Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode, host)
	}
}

func TestWithoutAReadyPodThePageSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	impatient := testLimits
	impatient.patience = 50 * time.Millisecond
	p := newPlace(t, impatient)
	p.service(httpPort)
	_, err := p.open("")
	require.EqualError(t, err, "Service default/web has no pod yet; see what holds it up with: pipedeck logs")
	a, err := p.open("")
	require.NoError(t, err, "it has been asked for and goes on waiting")
	require.Equal(t, "Service default/web, port http, 0 of 0 pods ready", a.Detail)
	p.kubelet.pods["b"] = backend(t, says("b"))
	p.ready["b"] = false
	p.publish()
	client := newClient(t)
	until(t, func() bool {
		status, text := ask(t, client, http.MethodGet, a.URL, "")
		require.Equal(t, http.StatusServiceUnavailable, status)
		return strings.Contains(text, "Waiting: no pod of Service default/web is ready (0 of 1).")
	})
	p.ready["b"] = true
	p.publish()
	until(t, func() bool {
		status, _ := ask(t, client, http.MethodPost, a.URL, "x")
		return status == http.StatusOK
	})
}

func TestWebSocketsPass(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	p.service(httpPort)
	p.pod("a", backend(t, func(w http.ResponseWriter, r *http.Request) {
		conn, err := (&gwebsocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		for {
			kind, message, err := conn.ReadMessage()
			if err != nil || conn.WriteMessage(kind, append(message, '!')) != nil {
				return
			}
		}
	}))
	conn, _, err := gwebsocket.DefaultDialer.DialContext(t.Context(), strings.Replace(p.url(""), "http", "ws", 1), nil)
	require.NoError(t, err)
	defer conn.Close()
	for _, text := range []string{"one", "two"} {
		require.NoError(t, conn.WriteMessage(gwebsocket.TextMessage, []byte(text)))
		_, answer, err := conn.ReadMessage()
		require.NoError(t, err)
		require.Equal(t, text+"!", string(answer))
	}
}

func TestConnectionsToOnePodShareAFewTunnels(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	p.service(dataPort)
	p.pod("a", echo(t))
	url := p.url("")
	var all []net.Conn
	for range testLimits.connections {
		conn, err := net.Dial("tcp", url)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		echoes(t, conn)
		all = append(all, conn)
	}
	require.EqualValues(t, maxTunnels, p.kubelet.tunnels.Load())

	late, err := net.Dial("tcp", url)
	require.NoError(t, err)
	defer late.Close()
	_, err = io.WriteString(late, "x")
	require.NoError(t, err)
	require.NoError(t, late.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	_, err = io.ReadFull(late, make([]byte, 1))
	var timeout net.Error
	require.ErrorAs(t, err, &timeout, "it waits for one of the others to end")
	for _, conn := range all {
		require.NoError(t, conn.Close())
	}
	require.NoError(t, late.SetReadDeadline(time.Now().Add(moment)))
	_, err = io.ReadFull(late, make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, late.Close())
	until(t, func() bool { return p.kubelet.tunnels.Load() == 1 }) // one is kept for the next
}

func TestThereIsABoundOnForwardsAndNoneAfterTheEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	p.service(httpPort + "," + dataPort + ",{name: http-b, port: 1},{name: http-c, port: 2}")
	p.pod("a", backend(t, says("a")))
	_ = p.url("http")
	_ = p.url("data")
	p.forwarder.limits.forwards = 2
	_, err := p.open("http-b")
	require.ErrorContains(t, err, "2 ports are open")
	_ = p.url("http")
	p.forwarder.mu.Lock()
	p.forwarder.closed = true
	p.forwarder.mu.Unlock()
	_, err = p.open("http-c")
	require.ErrorContains(t, err, "the environment is ending")
}

func TestTheEndBreaksEveryConnection(t *testing.T) {
	t.Parallel()
	p := newPlace(t, testLimits)
	f := newForwarder(p.forwarder.logger, testLimits, p.forwarder.connect)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx)
	}()
	p.service(dataPort)
	p.pod("a", echo(t))
	a, err := f.Open(t.Context(), Request{Cluster: "dev", Kubeconfig: "k", ApplicationID: "app-1", Name: "web"})
	require.NoError(t, err)
	conn, err := net.Dial("tcp", a.URL)
	require.NoError(t, err)
	defer conn.Close()
	echoes(t, conn)
	stop()
	select {
	case <-ended:
	case <-time.After(moment):
		t.Fatal("it does not end")
	}
	_, _ = io.ReadAll(conn) // which ends, somehow
	_, err = net.Dial("tcp", a.URL)
	require.Error(t, err, "no process listens")
}

func TestAForwardSurvivesConnectionsThatCannotBeTaken(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &forward{logger: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(t.Context())
	failing := &exhausted{Listener: listener, failures: 2, accepting: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.serveTCP(ctx, failing)
	}()
	select {
	case <-failing.accepting:
	case <-ended:
		t.Error("it has given up")
	}
	stop()
	<-ended
}

func TestARequestAfterTheEndIsNotBegun(t *testing.T) {
	t.Parallel()
	r := &requests{}
	require.True(t, r.begin())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.end()
	}()
	require.Eventually(t, func() bool {
		if r.begin() {
			r.running.Done()
			return false
		}
		return true
	}, moment, time.Millisecond)
	select {
	case <-ended:
		t.Fatal("one is still under way")
	default:
	}
	r.running.Done()
	<-ended
}

// exhausted is a listener of a process that has no file descriptor left for a while.
type exhausted struct {
	net.Listener
	failures  int
	accepting chan struct{}
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.failures--; e.failures >= 0 {
		return nil, syscall.EMFILE
	}
	if e.failures == -1 {
		close(e.accepting)
	}
	return e.Listener.Accept()
}

// deadStream is one whose connection has broken.
type deadStream struct{}

func (deadStream) Read([]byte) (int, error)  { return 0, io.EOF }
func (deadStream) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (deadStream) Close() error              { return nil }
func (deadStream) Reset() error              { return nil }
func (deadStream) Headers() http.Header      { return nil }
func (deadStream) Identifier() uint32        { return 0 }

// echo sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			})
		}
	})
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

func echoes(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := io.WriteString(conn, "hello")
	require.NoError(t, err)
	got := make([]byte, 5)
	_, err = io.ReadFull(conn, got)
	require.NoError(t, err)
	require.Equal(t, "hello", string(got))
}
