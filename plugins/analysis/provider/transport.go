// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

const (
	// maxAnswer bounds an answer, in bytes: 11,000 samples, the most that Prometheus gives of a series, take 400 KiB.
	maxAnswer = 16 << 20
	// maxPoints bounds the samples of an answer.
	maxPoints = 200_000
	// maxShown bounds what an error shows of an answer, in bytes.
	maxShown = 300
	// maxSecret bounds a file with a secret, in bytes.
	maxSecret = 64 << 10
)

// newTransport returns connections of one provider.
func newTransport(settings *config.TLS) (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 4
	if settings == nil {
		return transport, nil
	}
	transport.TLSClientConfig = &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: settings.ServerName,
		InsecureSkipVerify: settings.InsecureSkipVerify, //nolint:gosec // the user's choice
	}
	if settings.CAFile != "" {
		pem, err := os.ReadFile(settings.CAFile)
		if err != nil {
			return nil, fmt.Errorf("config.tls.caFile: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("config.tls.caFile: %s holds no certificate in PEM", settings.CAFile)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	if settings.CertFile != "" {
		// At each handshake, because certificates are renewed.
		transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(settings.CertFile, settings.KeyFile)
			return &pair, err
		}
	}
	return transport, nil
}

// read returns the body of an answer with a good status.
func read(client *http.Client, req *http.Request) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, plain(req.Context(), err)
	}
	defer resp.Body.Close()
	body, err := readBody(resp.Body)
	if err != nil {
		return nil, plain(req.Context(), err)
	}
	if resp.StatusCode/100 != 2 {
		return body, &statusError{resp.StatusCode, excerpt(body)}
	}
	return body, nil
}

func readBody(from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d MiB: make the query narrower", maxAnswer>>20)
	}
	return body, err
}

// statusError is an answer with another status than 2xx.
type statusError struct {
	code int
	body string
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("the answer has the status %d %s", e.code, http.StatusText(e.code))
	if e.body != "" {
		text += ": " + e.body
	}
	return text
}

// excerpt makes one short line of an answer.
func excerpt(body []byte) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(string(body[:min(len(body), 4*maxShown)]), "")), " ")
	if len(line) > maxShown {
		line = strings.ToValidUTF8(line[:maxShown], "") + "…"
	}
	return line
}

// plain leaves the URL out of an error, which may hold a secret, and says that the time is up in words.
func plain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("no answer within the timeout of the query")
	}
	if outer := (*url.Error)(nil); errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// place is where a URL leads to, without what may be secret: user, password, and query.
func place(address *url.URL) string {
	shown := url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}
	text := shown.String()
	if address.RawQuery != "" {
		text += "?…"
	}
	return text
}

// secret reads a file with a secret, at each use, because secrets are renewed.
func secret(key, file string) (string, error) {
	opened, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	defer opened.Close()
	content, err := io.ReadAll(io.LimitReader(opened, maxSecret))
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	return strings.TrimSpace(string(content)), nil
}
