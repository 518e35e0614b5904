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

// repeatable lets net/http send a query that is a POST again, on a new connection, when the server closes a connection
// that was idle just as the query arrives. The header is a sign for net/http: without a value it is not sent.
func repeatable(req *http.Request) { req.Header["Idempotency-Key"] = nil }

// read returns an answer with a good status. configured is the address that the request was made from.
func read(client *http.Client, req *http.Request, configured *url.URL) (*page, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, plain(req.Context(), err)
	}
	defer resp.Body.Close()
	body, err := readBody(resp.Body)
	if err != nil {
		return nil, plain(req.Context(), err)
	}
	answer := &page{body: body, secrets: secretsOf(req, configured)}
	if resp.StatusCode/100 == 2 {
		return answer, nil
	}
	refused := &statusError{code: resp.StatusCode, body: answer.excerpt()}
	if to, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 {
		refused.leadsTo = place(to)
	}
	return answer, refused
}

// maxRedirects is how many redirects are followed.
const maxRedirects = 10

// follow follows redirects within a host, and not from TLS to plain text: headers may hold secrets, which are not for
// others. A host with another port is another one.
func follow(next *http.Request, former []*http.Request) error {
	first := former[0].URL
	if next.URL.Host != first.Host || first.Scheme == "https" && next.URL.Scheme != "https" ||
		len(former) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
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
	// leadsTo is where a redirect that was not followed leads to.
	leadsTo string
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("the answer has the status %d %s", e.code, http.StatusText(e.code))
	if e.leadsTo != "" {
		return text + ", a redirect that is not followed, to " + e.leadsTo
	}
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
