// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

const (
	// Raft timers in milliseconds, which are for members that wait for each other. Each tick wakes the process up;
	// there have to be five in an election timeout. A lone member that was not elected at once would take up to that.
	tickMs     = 1000
	electionMs = 5000
	// What the log has is written to the database from then on. It is on disk already, and read.
	batchInterval = time.Second
	// A watch of which nothing was heard for so long says how far it has come, as kube-apiserver's bookmarks do.
	progressInterval = time.Minute
)

// Server is a running member.
type Server struct {
	member   *embed.Etcd
	level    zap.AtomicLevel // of its log
	endpoint string
	client   *clientv3.Client
	watches  *watchClient
}

// Start runs a member on the data in dir, which is made when it does not exist, and returns when it answers.
func Start(ctx context.Context, dir string, files pki.Files) (*Server, error) {
	config := embed.NewConfig()
	config.Name = "embedded"
	config.Dir = dir
	config.TickMs = tickMs
	config.ElectionMs = electionMs
	config.BackendBatchInterval = batchInterval
	config.WatchProgressNotifyInterval = progressInterval
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
	if err := elect(ctx, member); err != nil {
		member.Close()
		return nil, fmt.Errorf("wait for etcd in %s: %w", dir, err)
	}
	client, watches := v3client.New(member.Server), newWatchClient(member.Server)
	client.Watcher = clientv3.NewWatchFromWatchClient(watches, client)
	return &Server{
		member: member, level: level, endpoint: "https://" + member.Clients[0].Addr().String(),
		client: client, watches: watches,
	}, nil
}

// Endpoint is the member's client URL.
func (s *Server) Endpoint() string { return s.endpoint }

// Client calls the member as functions of this process. It is valid until Close, and has no endpoints.
func (s *Server) Client() *clientv3.Client { return s.client }

// Err delivers the error of a listener that broke. It is never closed before Close.
func (s *Server) Err() <-chan error { return s.member.Err() }

// Close stops the member and releases its data directory. It waits for requests in flight; callers stop etcd's clients
// first.
func (s *Server) Close() {
	s.level.SetLevel(zap.PanicLevel) // it reports each listener closed as an error
	_ = s.client.Close()             // reports that its context has ended
	s.watches.wait()
	s.member.Close()
}

func newLogger(level zap.AtomicLevel) *zap.Logger {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), level))
}
