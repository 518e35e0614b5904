// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

// Raft timers in milliseconds. A lone member elects itself after one election timeout, so that timeout is start-up time
// and nothing else.
const (
	tickMs     = 10
	electionMs = 100
)

// Server is a running member.
type Server struct {
	member   *embed.Etcd
	level    zap.AtomicLevel // of its log
	endpoint string
}

// Start runs a member on the data in dir, which is made when it does not exist, and returns when it answers.
func Start(ctx context.Context, dir string, files pki.Files) (*Server, error) {
	config := embed.NewConfig()
	config.Name = "embedded"
	config.Dir = dir
	config.TickMs = tickMs
	config.ElectionMs = electionMs
	level := zap.NewAtomicLevelAt(zap.ErrorLevel)
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newLogger(level))
	config.EnableGRPCGateway = false

	config.ListenClientUrls = []url.URL{{Scheme: "https", Host: "127.0.0.1:0"}}
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ClientTLSInfo = transport.TLSInfo{
		CertFile:       files.EtcdServer.Cert,
		KeyFile:        files.EtcdServer.Key,
		TrustedCAFile:  files.EtcdCA,
		ClientCertAuth: true,
	}

	// A lone member has no peers: it gets an address, which etcd insists on, but no listener.
	config.ListenPeerUrls = nil
	config.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2380"}}
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	member, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", dir, err)
	}
	server := &Server{member: member, level: level, endpoint: "https://" + member.Clients[0].Addr().String()}
	select {
	case <-member.Server.ReadyNotify():
		return server, nil
	case err = <-member.Err():
	case <-member.Server.StopNotify():
		err = fmt.Errorf("it stopped by itself")
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	member.Close()
	return nil, fmt.Errorf("wait for etcd in %s: %w", dir, err)
}

// Endpoint is the member's client URL.
func (s *Server) Endpoint() string { return s.endpoint }

// Err delivers the error of a listener that broke. It is never closed before Close.
func (s *Server) Err() <-chan error { return s.member.Err() }

// Close stops the member and releases its data directory. It waits for requests in flight; callers stop etcd's clients
// first.
func (s *Server) Close() {
	s.level.SetLevel(zap.PanicLevel) // it reports each listener closed as an error
	s.member.Close()
}

func newLogger(level zap.AtomicLevel) *zap.Logger {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), level))
}
