// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/transport/websocket"
	"k8s.io/streaming/pkg/httpstream"
	streamspdy "k8s.io/streaming/pkg/httpstream/spdy"
)

const (
	// protocol is the version of port forwarding that kubelets speak.
	protocol = "portforward.k8s.io"
	// overWebSocket marks it when it is carried by a WebSocket (Kubernetes 1.31 and later).
	overWebSocket = "SPDY/3.1+" + protocol
	// pingPeriod is shorter than what proxies give an idle connection.
	pingPeriod = 10 * time.Second
)

// cluster reaches one Kubernetes API.
type cluster struct {
	objects dynamic.Interface
	config  *rest.Config
	// close ends idle connections.
	close func()
}

func connect(kubeconfig string) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = "pipedeck"
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return &cluster{objects, config, func() { utilnet.CloseIdleConnectionsFor(client.Transport) }}, nil
}

// gone reports whether a pod has ended for certain.
func (c *cluster) gone(ctx context.Context, p pod) bool {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	object, err := c.objects.Resource(podResource).Namespace(p.namespace).Get(ctx, p.name, metav1.GetOptions{})
	if err != nil {
		return apierrors.IsNotFound(err)
	}
	var live podObject
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &live); err != nil {
		return false
	}
	return string(live.UID) != p.uid || ended(&live)
}

// dial opens a port-forward to a pod: by WebSocket, or by SPDY alone where the server or a proxy
// before it refuses that.
func (c *cluster) dial(ctx context.Context, namespace, pod string) (httpstream.Connection, error) {
	address, err := c.podAddress(namespace, pod)
	if err != nil {
		return nil, err
	}
	conn, err := c.dialWebSocket(ctx, address)
	if err != nil && (httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)) {
		var spdyErr error
		if conn, spdyErr = c.dialSPDY(ctx, address); spdyErr != nil {
			return nil, spdyErr
		}
		return conn, nil
	}
	return conn, err
}

func (c *cluster) podAddress(namespace, pod string) (*url.URL, error) {
	address, _, err := rest.DefaultServerUrlFor(c.config)
	if err != nil {
		return nil, err
	}
	return address.JoinPath("api", "v1", "namespaces", namespace, "pods", pod, "portforward"), nil
}

func (c *cluster) dialWebSocket(ctx context.Context, address *url.URL) (httpstream.Connection, error) {
	transport, holder, err := websocket.RoundTripperFor(c.config)
	if err != nil {
		return nil, err
	}
	// The transport changes the URL.
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	conn, err := websocket.Negotiate(transport, holder, request, overWebSocket)
	if err != nil {
		return nil, err
	}
	tunnel := newMessages(conn)
	streams, err := streamspdy.NewClientConnectionWithPings(tunnel, pingPeriod)
	if err != nil {
		return nil, errors.Join(err, tunnel.Close())
	}
	return &webSocketConnection{streams, tunnel}, nil
}

// webSocketConnection closes what carries it first: a write that hangs would hold up the farewells.
type webSocketConnection struct {
	httpstream.Connection
	tunnel io.Closer
}

func (c *webSocketConnection) Close() error {
	return errors.Join(c.tunnel.Close(), c.Connection.Close())
}

func (c *cluster) dialSPDY(ctx context.Context, address *url.URL) (httpstream.Connection, error) {
	transport, upgrader, err := spdy.RoundTripperFor(c.config)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), nil)
	if err != nil {
		return nil, err
	}
	conn, chosen, err := spdy.NegotiateStreaming(upgrader, &http.Client{Transport: transport}, request, protocol)
	if err != nil {
		return nil, err
	}
	if chosen != protocol {
		_ = conn.Close()
		return nil, fmt.Errorf("the server speaks %q instead of %q", chosen, protocol)
	}
	return conn, nil
}
