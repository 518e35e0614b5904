// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// Web requests URLs. It may be used by several goroutines.
type Web struct {
	client    *http.Client
	transport *http.Transport
	config    *config.Config
}

// ErrNotSent is the error of a request that lacks a header with a secret, which no one has been asked.
var ErrNotSent = errors.New("the request is not sent")

// NewWeb returns one without connections. The configuration has the headers with secrets.
func NewWeb(configured *config.Config) (*Web, error) {
	transport, err := newTransport(nil)
	if err != nil {
		return nil, err
	}
	return &Web{client: &http.Client{Transport: transport, CheckRedirect: follow}, transport: transport,
		config: configured}, nil
}

// Close ends connections that are not in use.
func (w *Web) Close() { w.transport.CloseIdleConnections() }

// Verdict is how the answer to a request compares with what is expected.
type Verdict struct {
	Good bool
	// Code is the status.
	Code int
	// Reason is why the answer is not good, in words.
	Reason string
}

// Request sends a request. An error means that there is no answer.
func (w *Web) Request(ctx context.Context, wanted *config.HTTP, address string) (Verdict, error) {
	method := strings.ToUpper(wanted.Method)
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil || req.URL.Host == "" {
		return Verdict{}, errors.New("url or method is not usable")
	}
	for _, header := range wanted.Headers {
		if strings.EqualFold(header.Key, "Host") {
			req.Host = header.Value
			continue
		}
		req.Header.Add(header.Key, header.Value)
	}
	secrets, err := w.addSecrets(req, wanted.HeadersFrom)
	if err != nil {
		return Verdict{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	client := *w.client
	if wanted.ExpectedCode/100 == 3 {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	resp, err := client.Do(req)
	if err != nil {
		return Verdict{}, fmt.Errorf("request %s: %w", place(req.URL), plain(ctx, err))
	}
	defer resp.Body.Close()
	body, err := readBody(resp.Body)
	if err != nil {
		return Verdict{}, fmt.Errorf("request %s: %w", place(req.URL), plain(ctx, err))
	}
	return judge(wanted, resp.StatusCode, &page{body: body, secrets: secretsOf(req, req.URL, secrets...)}), nil
}

// addSecrets adds the headers that have their values in files, and returns the values, which are without the prefixes.
func (w *Web) addSecrets(req *http.Request, names []string) (values []string, err error) {
	for _, name := range names {
		header := w.config.Header(name)
		switch {
		case header == nil:
			return nil, fmt.Errorf("headersFrom: %s is not among the httpHeaders of the piped configuration: %s", name,
				w.config.HeaderNames())
		case !header.For(req.URL):
			return nil, fmt.Errorf("headersFrom: %s is not sent to %s, because its hosts in the piped configuration "+
				"do not have it", name, place(req.URL))
		}
		value, err := secret("httpHeaders "+name, header.ValueFile)
		if err != nil {
			return nil, err
		}
		req.Header.Add(header.Key, header.Prefix+value)
		values = append(values, value)
	}
	return values, nil
}

func judge(wanted *config.HTTP, code int, answer *page) Verdict {
	switch good := wanted.ExpectedCode; {
	case good != 0 && code != good:
		return Verdict{Code: code, Reason: fmt.Sprintf("the status is %d, expected %d", code, good)}
	case good == 0 && code/100 != 2:
		return Verdict{Code: code, Reason: fmt.Sprintf("the status is %d, expected 200 to 299", code)}
	case wanted.ExpectedResponse != "" &&
		strings.TrimSpace(string(answer.body)) != strings.TrimSpace(wanted.ExpectedResponse):
		return Verdict{Code: code, Reason: fmt.Sprintf("the answer is %q, expected %q", answer.excerpt(),
			excerpt([]byte(wanted.ExpectedResponse)))}
	}
	return Verdict{Good: true, Code: code}
}

// Place is where a URL leads to, for logs: without user, password and query.
func Place(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "a URL that cannot be read"
	}
	return place(parsed)
}
