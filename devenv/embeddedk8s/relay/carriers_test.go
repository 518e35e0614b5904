// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	longest = 30 * time.Second
	step    = time.Millisecond
)

// serve serves on a new listener and returns its address.
func serve(t *testing.T, server Server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return listener.Addr().String()
}

// startHTTP starts a web server for an endpoint.
func (p *pods) startHTTP(ip string, handler http.HandlerFunc) (Address, *httptest.Server) {
	server := httptest.NewServer(handler)
	p.t.Cleanup(server.Close)
	address := Address{IP: ip, Port: 8080}
	p.ports[address] = server.Listener.Addr().String()
	return address, server
}

func greet(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) }
}

// get returns status and text.
func get(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

// to chooses the endpoints of e for all requests.
func to(e *Endpoints) func(*http.Request) (Dialer, error) {
	return func(*http.Request) (Dialer, error) { return e.Dial, nil }
}

func never(t *testing.T) func(error) {
	t.Helper()
	return func(err error) { t.Errorf("a failure was reported: %v", err) }
}

func TestRequestsOnOneKeptConnectionAreSharedToo(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	one, _ := p.startHTTP("one", greet("one"))
	two, _ := p.startHTTP("two", greet("two"))
	e.Set([]Address{one, two}, 0)
	address := serve(t, NewHTTPServer(HTTP{Choose: to(e), Failed: never(t)}.Handler()))
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	counts := map[string]int{}
	for range 100 {
		_, text := get(t, client, "http://"+address)
		counts[text]++
	}
	require.Equal(t, map[string]int{"one": 50, "two": 50}, counts)
}

func TestARequestArrivesAsItWasSent(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	got := make(chan *http.Request, 1)
	echo, _ := p.startHTTP("echo", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- r
		w.Header().Set("Trailer", "Sum")
		_, _ = w.Write(text)
		w.Header().Set("Sum", "7")
	})
	e.Set([]Address{echo}, 0)
	for _, forwarded := range []bool{false, true} {
		address := serve(t, NewHTTPServer(HTTP{Choose: to(e), Failed: never(t), Forwarded: forwarded}.Handler()))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			"http://"+address+"/a%2Fb//c?x=1;y=2", strings.NewReader("body"))
		require.NoError(t, err)
		request.Host = "web.default"
		request.Header.Set("X-Forwarded-For", "192.0.2.1")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, "body", string(text))
		require.Equal(t, "7", response.Trailer.Get("Sum"))
		r := <-got
		require.Equal(t, "web.default", r.Host)
		require.Equal(t, "/a%2Fb//c?x=1;y=2", r.RequestURI)
		if forwarded {
			require.Equal(t, "192.0.2.1, 127.0.0.1", r.Header.Get("X-Forwarded-For"))
			require.Equal(t, "web.default", r.Header.Get("X-Forwarded-Host"))
		} else {
			require.Equal(t, "192.0.2.1", r.Header.Get("X-Forwarded-For"))
			require.Empty(t, r.Header.Get("X-Forwarded-Host"))
		}
	}
}

func TestARequestIsRepeatedWhereAProgramEndedBeforeItAnswered(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	crashed := p.startWith("crashed", func(conn net.Conn) {
		_, _ = bufio.NewReader(conn).ReadString('\n')
		_ = conn.Close()
	})
	alive, _ := p.startHTTP("alive", greet("alive"))
	e.Set([]Address{crashed, alive}, 0)
	failures := make(chan error, 1)
	handler := HTTP{Choose: to(e), Failed: func(err error) { failures <- err }}.Handler()
	address := serve(t, NewHTTPServer(handler))
	for range 10 {
		status, text := get(t, http.DefaultClient, "http://"+address)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "alive", text)
	}
	e.Set([]Address{crashed}, 0)
	response, err := http.Post("http://"+address, "text/plain", strings.NewReader("once"))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusBadGateway, response.StatusCode, "what may have had an effect is not repeated")
	require.Error(t, <-failures)
}

func TestARequestWithoutEndpointIsAnsweredWithTheReason(t *testing.T) {
	t.Parallel()
	e := NewEndpoints(newPods(t).resolve)
	e.Set(nil, 2)
	failures := make(chan error, 1)
	address := serve(t, NewHTTPServer(HTTP{Choose: to(e), Failed: func(err error) { failures <- err }}.Handler()))
	status, text := get(t, http.DefaultClient, "http://"+address)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, text, "none of 2 is ready")
	require.ErrorIs(t, <-failures, ErrNoEndpoint)
}

func TestUpgradedConnectionsPass(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	upgrading, _ := p.startHTTP("upgrading", func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := buffered.ReadString('\n')
		fmt.Fprint(conn, line)
	})
	e.Set([]Address{upgrading}, 0)
	address := serve(t, NewHTTPServer(HTTP{Choose: to(e), Failed: never(t)}.Handler()))
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	fmt.Fprintln(conn, "hello")
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "hello\n", line)
}

func TestOnlyNamesOfThisMachineAndOfTheServiceAreAnswered(t *testing.T) {
	t.Parallel()
	handler := OwnNames(func(host string) bool { return host == "web" }, greet("answer"))
	for host, answered := range map[string]bool{
		"127.0.0.1:8080": true, "[::1]:80": true, "localhost": true, "LOCALHOST.:80": true, "shop.localhost:80": true,
		"web": true, "web:80": true, "": true,
		"evil.example:8080": false, "192.0.2.1": false, "web.evil.example": false, "localhost.evil.example": false,
	} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Host = host
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		require.Equal(t, answered, answer.Code == http.StatusOK, host)
	}
}

func TestBytesAreCarriedBothWaysToTheEnd(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	echo := p.startWith("echo", func(conn net.Conn) {
		defer conn.Close()
		text, _ := io.ReadAll(conn) // until the client has said all
		_, _ = conn.Write(text)
	})
	e.Set([]Address{echo}, 0)
	address := serve(t, NewTCP(e.Dial, never(t)))
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	long := strings.Repeat("0123456789", 100_000)
	var sending sync.WaitGroup
	sending.Go(func() {
		_, err := io.WriteString(conn, long)
		if err := errors.Join(err, conn.(*net.TCPConn).CloseWrite()); err != nil {
			t.Error(err)
		}
	})
	text, err := io.ReadAll(conn)
	require.NoError(t, err)
	sending.Wait()
	require.Equal(t, long, string(text))
}

func TestAConnectionWithoutEndpointIsClosedAtOnce(t *testing.T) {
	t.Parallel()
	failures := make(chan error, 1)
	address := serve(t, NewTCP(NewEndpoints(newPods(t).resolve).Dial, func(err error) { failures <- err }))
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.ReadAll(conn)
	require.NoError(t, err)
	require.ErrorIs(t, <-failures, ErrNoEndpoint)
}

func TestConnectionsOutliveTheirEndpointsReadinessAndTheListener(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	echo := p.startWith("echo", func(conn net.Conn) { _, _ = io.Copy(conn, conn); _ = conn.Close() })
	e.Set([]Address{echo}, 0)
	server := NewTCP(e.Dial, func(error) {}) // a connection before the listener closes finds no endpoint
	address := serve(t, server)
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	reader := bufio.NewReader(conn)
	say := func(text string) {
		fmt.Fprintln(conn, text)
		line, err := reader.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, text+"\n", line)
	}
	say("one")
	e.Set(nil, 1)
	say("two")
	var stopped atomic.Bool
	stopping := make(chan error, 1)
	go func() {
		err := server.Shutdown(context.Background())
		stopped.Store(true)
		stopping <- err
	}()
	require.Eventually(t, func() bool {
		another, err := net.Dial("tcp", address)
		if err == nil {
			_ = another.Close()
		}
		return err != nil
	}, longest, step)
	say("three")
	require.False(t, stopped.Load(), "a connection is open")
	require.NoError(t, conn.Close())
	require.NoError(t, <-stopping)
}

func TestCloseEndsConnections(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	e.Set([]Address{p.start("one")}, 0)
	server := NewTCP(e.Dial, never(t))
	conn, err := net.Dial("tcp", serve(t, server))
	require.NoError(t, err)
	defer conn.Close()
	text := make([]byte, 3)
	_, err = io.ReadFull(conn, text)
	require.NoError(t, err)
	require.NoError(t, server.Close())
	_, err = io.ReadAll(conn)
	require.True(t, err == nil || strings.Contains(err.Error(), "reset"), "%v", err)
}
