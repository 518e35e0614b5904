// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/system/clock"
)

// DefaultMaxReceiveBytes is the largest answer that is taken. PipeCD v1: 10 MiB.
const DefaultMaxReceiveBytes = 10 << 20

// Options say where the control plane is and who calls it.
type Options struct {
	// Address is host:port.
	Address string
	// ProjectID, PipedID and Key are what the control plane knows this piped by. White space around the
	// key, such as the end of a key file's line, does not belong to it.
	ProjectID, PipedID string
	Key                []byte
	// Insecure talks plain text instead of TLS.
	Insecure bool
	// CertFile is a PEM file with the only authorities to trust; empty trusts those of the system.
	CertFile string
	// CallTimeout bounds one try of a call. Default 10s.
	CallTimeout time.Duration
	// MaxReceiveBytes bounds an answer. Default DefaultMaxReceiveBytes.
	MaxReceiveBytes int
	Logger          *slog.Logger
	// Clock is for the pauses between tries. Default: the system's.
	Clock clock.Timer
	// Layers are what calls pass on their way, besides the Client's own.
	Layers Layers
}

// Client calls the control plane.
type Client struct {
	pipedServiceClient
	agentServiceClient
	pluginCallClient
	stageRerunClient
	conn *grpc.ClientConn
	// delivery is the connection for what was spooled.
	delivery *connection
}

var (
	_ pipedservice.PipedServiceClient = (*Client)(nil)
	_ agentv1.AgentServiceClient      = (*Client)(nil)
)

// Dial returns a client and begins to connect, without waiting: calls fail with Unavailable while there is
// no control plane. It fails when the options cannot be used. The caller closes the client.
func Dial(o Options) (*Client, error) {
	client, err := dial(o)
	if err != nil {
		return nil, fmt.Errorf("connect to the control plane at %q: %w", o.Address, err)
	}
	return client, nil
}

func dial(o Options) (*Client, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = 10 * time.Second
	}
	if o.MaxReceiveBytes <= 0 {
		o.MaxReceiveBytes = DefaultMaxReceiveBytes
	}
	if _, _, err := net.SplitHostPort(o.Address); err != nil {
		return nil, fmt.Errorf("%w; write apiAddress as host:port", err)
	}
	token, err := newToken(o)
	if err != nil {
		return nil, err
	}
	transport, err := Transport(o.Insecure, o.CertFile)
	if err != nil {
		return nil, err
	}
	retries := &retrier{timeout: o.CallTimeout, clock: o.Clock, logger: o.Logger}
	conn, err := grpc.NewClient(o.Address,
		grpc.WithTransportCredentials(transport),
		grpc.WithPerRPCCredentials(token),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(o.MaxReceiveBytes)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: firstPause, Multiplier: 2, Jitter: 0.2,
				MaxDelay: longestPause},
			MinConnectTimeout: 5 * time.Second,
		}),
		// gRPC servers end connections that are pinged more often than every five minutes.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 6 * time.Minute, Timeout: 20 * time.Second}),
	)
	if err != nil {
		return nil, err
	}
	conn.Connect()
	layers := order(o.Layers, retries)
	layered := through(conn, layers)
	return &Client{
		pipedServiceClient: pipedservice.NewPipedServiceClient(layered),
		agentServiceClient: agentv1.NewAgentServiceClient(layered),
		pluginCallClient:   agentv1.NewPluginCallServiceClient(layered),
		stageRerunClient:   agentv1.NewStageRerunServiceClient(layered),
		conn:               conn,
		delivery:           through(conn, after(layers, spooled)),
	}, nil
}

// Deliver makes a unary call that has been spooled: it passes only the layers after the spool.
func (c *Client) Deliver(ctx context.Context, method string, request, reply any) error {
	return c.delivery.Invoke(ctx, method, request, reply)
}

// Close ends the connection and with it all calls.
func (c *Client) Close() error { return c.conn.Close() }

// Connected waits until there is a connection or ctx ends.
func (c *Client) Connected(ctx context.Context) error {
	for state := c.conn.GetState(); state != connectivity.Ready; state = c.conn.GetState() {
		c.conn.Connect()
		if !c.conn.WaitForStateChange(ctx, state) {
			return fmt.Errorf("no connection to the control plane at %q: %w; see that it runs and that --insecure "+
				"fits it", c.conn.Target(), ctx.Err())
		}
	}
	return nil
}

// Transport returns the credentials of a connection: TLS that trusts the authorities of the system, or only those in
// the certificate file unless its name is empty. With plain there is no TLS. It fails when the file cannot be used.
func Transport(plain bool, certFile string) (credentials.TransportCredentials, error) {
	switch {
	case plain && certFile != "":
		return nil, errors.New("a certificate file is of no use without TLS; give --insecure or --cert-file, not both")
	case plain:
		return insecure.NewCredentials(), nil
	case certFile == "":
		return credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12}), nil
	}
	pem, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate file: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("the certificate file %s holds no certificate in PEM form", certFile)
	}
	return credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}), nil
}
