// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Serve runs a plugin in this process, for tests. It returns when the plugin has reported its stages. Stop ends it; Pid
// is for programs only.
func Serve(ctx context.Context, plugin sdk.Plugin, pipedAddress string, settings sdk.Settings,
	logger *slog.Logger) (*Program, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	exited := make(chan struct{})
	p := &Program{Exited: exited}
	p.end = sync.OnceValue(func() error {
		stop()
		<-exited
		return p.err
	})
	go func() {
		defer close(exited)
		p.err = sdk.Serve(serving, plugin, sdk.ServeOptions{Settings: settings, PipedAddress: pipedAddress,
			Listener: listener, GracePeriod: StopLimit, Logger: logger})
	}()
	p.Conn, err = grpc.NewClient("passthrough:///"+listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err == nil {
		err = p.awaitAnswer(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("serve plugin %s: %w", settings.Name, errors.Join(err, p.Close()))
	}
	return p, nil
}
