// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"crypto/tls"
	"net"
	"strings"
	"time"
)

// speaks guesses the protocol of a server: "" when nothing listens, "tls", "http1", or "something".
func speaks(address string) string {
	const limit = time.Second
	conn, err := net.DialTimeout("tcp", address, limit)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(limit))
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // only to see whether it is TLS
	if client.Handshake() == nil {
		return "tls"
	}
	plain, err := net.DialTimeout("tcp", address, limit)
	if err != nil {
		return "something"
	}
	defer plain.Close()
	_ = plain.SetDeadline(time.Now().Add(limit))
	if _, err := plain.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		return "something"
	}
	answer := make([]byte, 8)
	if n, _ := plain.Read(answer); strings.HasPrefix(string(answer[:n]), "HTTP/1") {
		return "http1"
	}
	return "something"
}
