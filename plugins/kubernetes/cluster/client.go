// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

const (
	// Client-go would make a hundred objects take 20 s with its limit of 5 requests a second. What the plugin has under
	// way at once is bounded where it is asked for, and the API protects itself.
	requestsPerSecond = -1

	probeTimeout = 3 * time.Second
	// maxBodyBytes bounds what is read of an answer that is only shown.
	maxBodyBytes = 64 << 10
)

// Client reaches one cluster. It may be used by several goroutines.
type Client struct {
	Dynamic   dynamic.Interface
	Metadata  metadata.Interface
	Discovery discovery.CachedDiscoveryInterface
	// Mapper knows which resource a kind is. Reset it when a kind is new.
	Mapper meta.ResettableRESTMapper
	// Server is the API's address, for messages.
	Server string
	// Namespace is what an object without a namespace gets.
	Namespace string

	http     *http.Client
	base     *url.URL
	restarts *restarts
}

// NewClient creates a client without talking to the cluster.
func NewClient(cfg *rest.Config, namespace string) (*Client, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = requestsPerSecond
	cfg.UserAgent = "pipedeck-kubernetes"
	cfg.WarningHandlerWithContext = warnings{}
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("set up the connection: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("server address %q: %w", cfg.Host, err)
	}
	next := httpClient.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	outlast := &restarts{next: &answers{next: &faulty{next: next}}, base: base}
	httpClient = &http.Client{Transport: outlast, Timeout: httpClient.Timeout}
	c := &Client{Server: base.String(), Namespace: namespace, http: httpClient, base: base, restarts: outlast}
	if c.Dynamic, err = dynamic.NewForConfigAndClient(cfg, httpClient); err != nil {
		return nil, err
	}
	if c.Metadata, err = metadata.NewForConfigAndClient(cfg, httpClient); err != nil {
		return nil, err
	}
	d, err := discovery.NewDiscoveryClientForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, err
	}
	c.Discovery = memory.NewMemCacheClient(d)
	c.Mapper = &mapper{ResettableRESTMapper: restmapper.NewDeferredDiscoveryRESTMapper(c.Discovery)}
	return c, nil
}

// JustStarted reports whether the server has just started, as far as the requests so far show.
func (c *Client) JustStarted() bool { return c.restarts.recentlyAway() }

// Resource returns the objects of a kind in a namespace.
func (c *Client) Resource(gvr schema.GroupVersionResource, namespace string) Watchable {
	return c.Dynamic.Resource(gvr).Namespace(namespace)
}

// Get reads a path of the API as text, cut off at 64 KiB.
func (c *Client) Get(ctx context.Context, path string, query url.Values) (status int, body string, err error) {
	u := c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	resp, err := c.do(ctx, u)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes))
	return resp.StatusCode, string(data), err
}

// Stream reads a path of the API while it grows. The caller closes the body.
func (c *Client) Stream(ctx context.Context, path string, query url.Values) (status int, body io.ReadCloser,
	err error) {
	u := c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	resp, err := c.do(ctx, u)
	if err != nil {
		return 0, nil, err
	}
	return resp.StatusCode, resp.Body, nil
}

// Now is the time by the API's clock, to the second, as in creation timestamps.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	resp, err := c.do(ctx, c.base.JoinPath("/version"))
	if err != nil {
		return time.Time{}, fmt.Errorf("ask the API for its time: %w", err)
	}
	defer resp.Body.Close()
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of the API: %w", err)
	}
	return now, nil
}

func (c *Client) do(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	return c.http.Do(req)
}

// notReadyError is an API that answers, but says that it is still starting.
type notReadyError struct{ body string }

func (e *notReadyError) Error() string { return "the API is still starting: " + e.body }

// errRefused is an API that does not take the credentials.
var errRefused = errors.New("the API refused the credentials of the kubeconfig (401 Unauthorized)")

// Probe asks the API whether it answers, and fails after 3 s without an answer. An API that refuses the question
// answers.
func (c *Client) Probe(ctx context.Context) error { return c.probe(ctx) }

// probe asks the API whether it is ready. It does not go through client-go, which would sit out a Retry-After by
// itself.
func (c *Client) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(failFast(ctx), probeTimeout)
	defer cancel()
	code, body, err := c.Get(ctx, readyPath, nil)
	switch {
	case err != nil:
		return err
	case code == http.StatusUnauthorized:
		return errRefused
	case isStarting(code):
		return &notReadyError{body: firstLine(body)}
	}
	return nil // 403 and 404 too: an answer, from an API that hides its readiness
}

func (c *Client) close() { c.http.CloseIdleConnections() }
