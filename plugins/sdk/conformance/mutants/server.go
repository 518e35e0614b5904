// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/api/plugin/schema"
)

func (p *plugin) serve(address string) {
	stopping, stop := context.WithCancel(context.Background())
	p.stopping = stopping
	listener := p.listen()
	endWithParent()
	p.dial(address)
	server := p.server()
	stopped := make(chan struct{})
	go p.awaitSignals(server, stop, stopped)
	if makes("busy-loop") {
		go func() {
			for stopping.Err() == nil {
			}
		}()
	}
	if err := server.Serve(listener); err != nil {
		fail(err)
	}
	<-stopped
	switch {
	case makes("exit-code"):
		os.Exit(7)
	case makes("child-left"):
		if err := child("3600").Start(); err != nil {
			fail(err)
		}
	}
}

func (p *plugin) listen() net.Listener {
	host, port := "127.0.0.1", p.Port
	switch {
	case makes("all-interfaces"):
		host = ""
	case makes("ignores-port"):
		port = 0
	case makes("speaks-http1"):
		fail(http.ListenAndServe(net.JoinHostPort(host, strconv.Itoa(port)), nil))
	case makes("metrics-later"):
		time.AfterFunc(2*time.Second, func() { _, _ = net.Listen("tcp", ":0") })
	case makes("metrics-for-all"):
		if _, err := net.Listen("tcp", ":0"); err != nil {
			fail(err)
		}
	}
	config := &net.ListenConfig{}
	if makes("shares-port") {
		config.Control = sharePort
	}
	listener, err := config.Listen(context.Background(), "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil && makes("takes-another-port") {
		listener, err = net.Listen("tcp", host+":0")
	}
	if err != nil {
		fail(err)
	}
	return listener
}

// sharePort is what gRPC for Python and C++ does by default.
func sharePort(_, _ string, socket syscall.RawConn) error {
	option := 0xf // SO_REUSEPORT, which package syscall does not name on Linux
	if runtime.GOOS == "darwin" {
		option = 0x200
	}
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, option, 1)
	})
	return errors.Join(err, failed)
}

// awaitSignals stops the server at SIGTERM and SIGINT.
func (p *plugin) awaitSignals(server *grpc.Server, stop context.CancelFunc, stopped chan struct{}) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	for got := range signals {
		if got == syscall.SIGTERM && makes("ignores-sigterm") || got == syscall.SIGINT && makes("ignores-sigint") {
			continue
		}
		break
	}
	if makes("exits-at-once") {
		os.Exit(0)
	}
	if makes("waits-for-stages", "stop-hangs", "changes-hold-stop") {
		server.GracefulStop()
	} else {
		stop()
		graceful := make(chan struct{})
		go func() { server.GracefulStop(); close(graceful) }()
		select {
		case <-graceful:
		case <-time.After(2 * time.Second):
			server.Stop()
		}
	}
	close(stopped)
}

func (p *plugin) server() *grpc.Server {
	options := []grpc.ServerOption{grpc.UnaryInterceptor(p.intercept)}
	switch {
	case makes("speaks-tls"):
		options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(certificate())))
	case makes("small-messages"):
		options = append(options, grpc.MaxRecvMsgSize(1<<20))
	case makes("one-connection"):
		options = append(options, grpc.StatsHandler(oneConnection{}))
	case makes("unknown-methods"):
		options = append(options, grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error {
			return status.Error(codes.Internal, "what is that")
		}))
	}
	server := grpc.NewServer(options...)
	deployment.RegisterDeploymentServiceServer(server, &deployments{plugin: p})
	livestate.RegisterLivestateServiceServer(server, &live{plugin: p})
	livestate.RegisterLivestateChangeServiceServer(server, &live{plugin: p})
	livestate.RegisterLivestateDriftServiceServer(server, &live{plugin: p})
	planpreview.RegisterPlanPreviewServiceServer(server, &previews{plugin: p})
	if !makes("rollback-optional") {
		schema.RegisterSchemaServiceServer(server, &schemas{})
	}
	grpc_health_v1.RegisterHealthServer(server, &healthy{})
	return server
}

// intercept checks requests, and makes mistakes of whole servers.
func (p *plugin) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo,
	next grpc.UnaryHandler) (answer any, err error) {
	if makes("one-call") {
		p.oneCall.Lock()
		defer p.oneCall.Unlock()
	}
	trusted := map[string]string{"trusts-input": "ExecuteStage", "trusts-fields": "ExecuteStage",
		"trusts-versions": "DetermineVersions", "trusts-strategy": "DetermineStrategy",
		"live-crashes": "GetLivestate", "preview-crashes": "GetPlanPreview"}[mutation]
	if trusted == "" || !strings.HasSuffix(info.FullMethod, trusted) {
		defer func() {
			if r := recover(); r != nil && !makes("crashes", "plan-crashes", "options-needed", "rollback-crashes",
				"sources-needed", "cancel-crashes", "metadata-crashes", "metadata-trusted", "missing-crashes",
				"crashes-together", "needs-running") {
				err = status.Error(codes.Internal, fmt.Sprint(r))
			} else if r != nil {
				panic(r)
			}
		}()
		valid, ok := req.(interface{ Validate() error })
		if ok && !strings.HasSuffix(info.FullMethod, "DetermineStrategy") {
			if err := valid.Validate(); err != nil {
				return nil, status.Error(codes.InvalidArgument, err.Error())
			}
		}
	}
	return next(ctx, req)
}

// oneConnection ends the process with its first connection.
type oneConnection struct{ stats.Handler }

func (oneConnection) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (oneConnection) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (oneConnection) HandleRPC(context.Context, stats.RPCStats)                         {}
func (oneConnection) HandleConn(_ context.Context, s stats.ConnStats) {
	if _, ended := s.(*stats.ConnEnd); ended {
		os.Exit(0)
	}
}

// healthy reports the health and, as the SDK does, the number of goroutines.
type healthy struct {
	grpc_health_v1.UnimplementedHealthServer
}

func (*healthy) Check(ctx context.Context,
	_ *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	_ = grpc.SetTrailer(ctx, metadata.Pairs("pipedeck-goroutines", strconv.Itoa(runtime.NumGoroutine())))
	if makes("not-serving") {
		return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_NOT_SERVING}, nil
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func certificate() *tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		fail(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		fail(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
