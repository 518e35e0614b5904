// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"cmp"
	"context"
	"fmt"
	"net"
	nethttp "net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
	gossh "golang.org/x/crypto/ssh"
)

// uploadPack opens a session to fetch from a server. It ends with ctx at the latest.
func (r *remote) uploadPack(ctx context.Context) (transport.UploadPackSession, error) {
	switch r.address.Scheme {
	case "ssh", "git":
		return r.stream(ctx, transport.UploadPackServiceName)
	}
	endpoint, err := transport.NewEndpoint(r.url)
	if err != nil {
		return nil, err
	}
	way, end := r.http()
	session, err := way.NewUploadPackSession(endpoint, r.login())
	if err != nil {
		return nil, err
	}
	return &httpUpload{session, end}, nil
}

// receivePack opens a session to push. Git's own program receives on this machine.
func (r *remote) receivePack(ctx context.Context) (transport.ReceivePackSession, error) {
	switch r.address.Scheme {
	case "ssh", "git":
		return r.stream(ctx, transport.ReceivePackServiceName)
	case "file":
		endpoint, err := transport.NewEndpoint(r.address.Path)
		if err != nil {
			return nil, err
		}
		way, err := client.NewClient(endpoint)
		if err != nil {
			return nil, err
		}
		return way.NewReceivePackSession(endpoint, nil)
	}
	endpoint, err := transport.NewEndpoint(r.url)
	if err != nil {
		return nil, err
	}
	way, end := r.http()
	session, err := way.NewReceivePackSession(endpoint, r.login())
	if err != nil {
		return nil, err
	}
	return &httpReceive{session, end}, nil
}

// http is a client for one session: its connections are shared with no other repository, so that a silent
// server holds up none, and are closed with it.
func (r *remote) http() (way transport.Transport, end func()) {
	dialer := &net.Dialer{Timeout: connectTimeout}
	connections := &nethttp.Transport{
		Proxy: nethttp.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &idleConn{Conn: conn, idle: r.idle}, nil
		},
	}
	return http.NewClient(&nethttp.Client{Transport: connections}), connections.CloseIdleConnections
}

func (r *remote) login() transport.AuthMethod {
	if r.password == "" {
		return nil // an interface without a value, so that the remote's own user counts
	}
	return &http.BasicAuth{Username: r.username, Password: r.password}
}

type httpUpload struct {
	transport.UploadPackSession
	end func()
}

// Close closes the connections as well.
func (h *httpUpload) Close() error { defer h.end(); return h.UploadPackSession.Close() }

type httpReceive struct {
	transport.ReceivePackSession
	end func()
}

// Close closes the connections as well.
func (h *httpReceive) Close() error { defer h.end(); return h.ReceivePackSession.Close() }

func (r *remote) stream(ctx context.Context, service string) (*stream, error) {
	if r.address.Scheme == "git" {
		return r.gitStream(ctx, service)
	}
	return r.sshStream(ctx, service)
}

// gitStream asks Git's own daemon.
func (r *remote) gitStream(ctx context.Context, service string) (*stream, error) {
	conn, release, err := r.dial(ctx, net.JoinHostPort(r.address.Host, cmp.Or(r.address.Port, "9418")))
	if err != nil {
		return nil, err
	}
	host := r.address.Host
	if r.address.Port != "" {
		host = net.JoinHostPort(host, r.address.Port)
	}
	request := packp.GitProtoRequest{RequestCommand: service, Pathname: r.address.Path, Host: host}
	if err := request.Encode(conn); err != nil {
		release()
		return nil, err
	}
	return &stream{in: openEnded{conn}, out: conn, close: release}, nil
}

// openEnded stays open for the answer.
type openEnded struct{ net.Conn }

// Close does nothing.
func (openEnded) Close() error { return nil }

// sshStream runs the service as the server's user.
func (r *remote) sshStream(ctx context.Context, service string) (_ *stream, err error) {
	login, err := r.ssh.login(ctx, r.address)
	if err != nil {
		return nil, err
	}
	defer login.close()
	conn, release, err := r.dial(ctx, login.address)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			release()
			switch {
			case ctx.Err() != nil:
				err = context.Cause(ctx)
			case conn.silent.Load(): // which the protocol reports as an answer that is none
				err = &silentError{after: conn.idle}
			}
		}
	}()
	secure, channels, requests, err := gossh.NewClientConn(conn, login.address, login.config)
	if err != nil {
		return nil, err
	}
	server := gossh.NewClient(secure, channels, requests)
	session, err := server.NewSession()
	if err != nil {
		return nil, err
	}
	said := &complaints{}
	session.Stderr = said
	in, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := session.Start(service + " " + quote(sshPath(r.address.Path))); err != nil {
		return nil, fmt.Errorf("run %s on the server: %w", service, err)
	}
	return &stream{
		in: in, out: &overConn{out, conn},
		complaint: func() string { _ = session.Wait(); return said.String() },
		// The goroutines of the connection end with it.
		close: func() { release(); _ = server.Wait() },
	}, nil
}

// sshPath is the path as the server's Git understands it: /~user/x of a URL is below a home directory.
func sshPath(path string) string {
	if strings.HasPrefix(path, "/~") {
		return path[1:]
	}
	return path
}

// quote makes one word for the server's shell, whichever it is: some take ! for a command even in quotes.
func quote(word string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(word) + "'"
}
