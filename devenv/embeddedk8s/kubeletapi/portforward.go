// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
)

// dialTimeout bounds a connection to this machine.
const dialTimeout = 5 * time.Second

// forwarder connects to the ports of one pod.
type forwarder struct {
	addresses Addresses
	pod       *corev1.Pod
}

var _ portforward.PortForwarder = forwarder{}

// PortForward implements portforward.PortForwarder. It returns when the program has closed the connection.
func (f forwarder) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	address, err := f.addresses.HostPort(f.pod.Status.PodIP, port)
	if err != nil {
		return fmt.Errorf("no process of pod %s answers on port %d: %w", f.pod.Name, port, err)
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("connect to port %d of pod %s: %w", port, f.pod.Name, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	go func() {
		_, _ = io.Copy(conn, stream) // a program that closes early has its reasons
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	// The answer ends the connection: a client may leave its own direction open for ever.
	_, err = io.Copy(stream, conn)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("read from port %d of pod %s: %w", port, f.pod.Name, err)
	}
	return nil
}
