// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	connectTimeout = 10 * time.Second
	maxRedirects   = 10
	userAgent      = "piped (pipedeck)"
)

// newClient creates a client that never goes from https:// to http://, nor to another machine by http://.
func newClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSHandshakeTimeout: connectTimeout,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true, // the digest is that of the bytes that the server has
			IdleConnTimeout:     time.Minute,
		}
	}
	return &http.Client{Transport: transport, CheckRedirect: func(next *http.Request, before []*http.Request) error {
		next.Header.Del("Referer") // the query of a url may hold a secret, which is for its own server
		switch {
		case len(before) >= maxRedirects:
			return refused(
				"correct the url in the piped configuration", "the server redirects more than %d times", maxRedirects,
			)
		case next.URL.Scheme == "https":
			return nil
		case next.URL.Scheme == "http" && loopback(next.URL.Host) && before[0].URL.Scheme == "http":
			return nil
		}
		return refused(
			"use a url that leads to https://", "the server redirects to %s, which is not protected", redact(next.URL),
		)
	}}
}

type httpSource struct {
	client *http.Client
	url    string
}

func (s *httpSource) pinned() bool { return false }

func (s *httpSource) open(ctx context.Context, known entry, _ func(string) bool) (*answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, refused("correct the url in the piped configuration", "the url cannot be read")
	}
	request.Header.Set("User-Agent", userAgent)
	if known.SHA256 != "" {
		if known.ETag != "" {
			request.Header.Set("If-None-Match", known.ETag)
		}
		if known.LastModified != "" {
			request.Header.Set("If-Modified-Since", known.LastModified)
		}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, requestFailure(err)
	}
	switch {
	case response.StatusCode == http.StatusOK:
		return &answer{body: response.Body, size: response.ContentLength, again: s.rest(response), entry: entry{
			ETag: bounded(response.Header.Get("ETag")), LastModified: lastModified(response.Header),
		}}, nil
	case response.StatusCode == http.StatusNotModified && known.SHA256 != "":
		response.Body.Close()
		return &answer{entry: known}, nil
	}
	response.Body.Close()
	return nil, statusFailure(response.StatusCode)
}

// rest asks for the rest of a content that its server can distinguish from another one; nil when it cannot.
func (s *httpSource) rest(of *http.Response) func(context.Context, int64) (io.ReadCloser, error) {
	tag, size := of.Header.Get("ETag"), of.ContentLength
	if !strings.HasPrefix(tag, `"`) || size <= 0 { // W/"…" is the same for contents that differ a little
		return nil
	}
	return func(ctx context.Context, from int64) (io.ReadCloser, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("User-Agent", userAgent)
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		request.Header.Set("If-Range", tag)
		response, err := s.client.Do(request)
		if err != nil {
			return nil, requestFailure(err)
		}
		if response.StatusCode != http.StatusPartialContent || response.Header.Get("Content-Range") != fmt.Sprintf(
			"bytes %d-%d/%d", from, size-1, size,
		) {
			response.Body.Close()
			return nil, errors.New("the server does not give the rest")
		}
		return response.Body, nil
	}
}

// lastModified is empty when the content may change once more within the second that the header gives (RFC 9110,
// 8.8.2.2).
func lastModified(header http.Header) string {
	changed, err := http.ParseTime(header.Get("Last-Modified"))
	if err != nil {
		return ""
	}
	if now, err := http.ParseTime(header.Get("Date")); err == nil && now.Sub(changed) < 2*time.Second {
		return ""
	}
	return bounded(header.Get("Last-Modified"))
}

// bounded leaves away a header that an entry has no room for.
func bounded(header string) string {
	if len(header) > 1<<10 {
		return ""
	}
	return header
}

func statusFailure(code int) error {
	words := http.StatusText(code)
	switch {
	case code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= 500:
		return passing(
			"wait until the server is well, then start the plugin again", "the server answers %d %s", code, words,
		)
	case code == http.StatusForbidden:
		return gone(
			"give access to the url, or download the plugin and use file://", "the server answers %d %s", code, words,
		)
	case code == http.StatusNotFound || code == http.StatusGone:
		return gone("correct the url in the piped configuration", "the server answers %d %s", code, words)
	case code == http.StatusUnauthorized:
		return refused(
			"give access to the url, or download the plugin and use file://", "the server answers %d %s", code, words,
		)
	default:
		return refused("correct the url in the piped configuration", "the server answers %d %s", code, words)
	}
}

// requestFailure is why there was no answer, without the URL, which may hold a secret.
func requestFailure(err error) error {
	var why *failure
	if errors.As(err, &why) {
		return why
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return refused(
			"correct the url, or have this machine trust the authority of the certificate",
			"the server is not who it should be: %w", err,
		)
	}
	return passing("check the network and the url, then start the plugin again", "the server cannot be asked: %w", err)
}
