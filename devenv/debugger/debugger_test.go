// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package debugger

import (
	"context"
	"errors"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// RPCServer answers in place of Delve: the process runs when it is asked first, and has ended then. The story of a
// breakpoint has the real Delve.
type RPCServer struct{ asked int }

// State is Delve's.
func (s *RPCServer) State(_ map[string]bool, answer *map[string]any) error {
	if s.asked++; s.asked > 1 {
		return errors.New("process 7 has exited with status 0")
	}
	*answer = map[string]any{"State": map[string]any{"Running": true}}
	return nil
}

func TestADebuggerWhoseProcessHasEndedHoldsNone(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	server := rpc.NewServer()
	require.NoError(t, server.RegisterName("RPCServer", &RPCServer{}))
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			server.ServeCodec(jsonrpc.NewServerCodec(conn))
		}
	}()
	program := filepath.Join(t.TempDir(), "dlv")
	script := "#!/bin/sh\necho API server listening at: here\nexec cat\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700))

	ctx, cancel := context.WithCancel(t.Context())
	reports, ended := make(chan Status, 10), make(chan error, 1)
	d := &Debugger{
		Delve: program, Address: listener.Addr().String(), Report: func(s Status) { reports <- s },
		Next: func(ctx context.Context, pid int) (int, error) {
			if pid == 0 {
				return 7, nil
			}
			<-ctx.Done()
			return 0, ctx.Err()
		},
	}
	go func() { ended <- d.Run(ctx) }()
	require.Equal(t, Status{PID: 7}, <-reports)
	require.Equal(t, Status{}, <-reports, "no process is held, and it says so")
	cancel()
	require.NoError(t, <-ended)
}
