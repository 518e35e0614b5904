// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/system/owned"
)

const (
	// maxKubeconfig and maxAnswer bound what is read, in bytes.
	maxKubeconfig = 1 << 20
	maxAnswer     = 64 << 20
	userAgent     = "pipedeck"
)

// Client asks one API server. Many goroutines may use it.
type Client struct {
	// Host is the URL of the API server.
	Host string
	http *http.Client
}

// StatusError is an answer of the API that is no success.
type StatusError struct {
	URL  string
	Code int
	// Message is the server's; may be empty.
	Message string
}

func (e *StatusError) Error() string {
	answer := fmt.Sprintf("%s answers %d %s", e.URL, e.Code, http.StatusText(e.Code))
	if e.Message != "" {
		answer += ": " + e.Message
	}
	return answer
}

// IsConflict reports whether an object has changed since it was read.
func IsConflict(err error) bool {
	var answer *StatusError
	return errors.As(err, &answer) && answer.Code == http.StatusConflict
}

// kubeconfig is what is read of one.
type kubeconfig struct {
	CurrentContext string `yaml:"current-context"`
	Contexts       []struct {
		Name    string `yaml:"name"`
		Context struct {
			Cluster string `yaml:"cluster"`
			User    string `yaml:"user"`
		} `yaml:"context"`
	} `yaml:"contexts"`
	Clusters []struct {
		Name    string `yaml:"name"`
		Cluster struct {
			Server    string `yaml:"server"`
			Authority data   `yaml:"certificate-authority-data"`
		} `yaml:"cluster"`
	} `yaml:"clusters"`
	Users []struct {
		Name string `yaml:"name"`
		User struct {
			Certificate data `yaml:"client-certificate-data"`
			Key         data `yaml:"client-key-data"`
		} `yaml:"user"`
	} `yaml:"users"`
}

// Read returns the content of a kubeconfig file, for Open.
func Read(file string) ([]byte, error) { return owned.ReadFile(file, maxKubeconfig) }

// Connect returns the client of the cluster that the current context of a kubeconfig file names. It asks nothing of the
// cluster.
func Connect(file string) (*Client, error) {
	content, err := Read(file)
	if err != nil {
		return nil, err
	}
	return Open(content)
}

// Open is like Connect, for the content of a file.
func Open(content []byte) (*Client, error) {
	var config kubeconfig
	if err := yaml.Unmarshal(content, &config); err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	client := &Client{http: &http.Client{Transport: &http.Transport{
		TLSClientConfig: settings, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
	}}}
	for _, context := range config.Contexts {
		if context.Name != config.CurrentContext {
			continue
		}
		for _, c := range config.Clusters {
			if c.Name == context.Context.Cluster {
				client.Host = strings.TrimSuffix(c.Cluster.Server, "/")
				if len(c.Cluster.Authority) > 0 {
					settings.RootCAs = x509.NewCertPool()
					settings.RootCAs.AppendCertsFromPEM(c.Cluster.Authority)
				}
			}
		}
		for _, u := range config.Users {
			if u.Name != context.Context.User || len(u.User.Certificate) == 0 {
				continue
			}
			pair, err := tls.X509KeyPair(u.User.Certificate, u.User.Key)
			if err != nil {
				return nil, fmt.Errorf("read the client's certificate in the kubeconfig: %w", err)
			}
			settings.Certificates = []tls.Certificate{pair}
		}
	}
	if client.Host == "" {
		return nil, errors.New("the kubeconfig has no current context with an API server")
	}
	return client, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get reads an object, or a list of objects.
func (c *Client) Get(ctx context.Context, path string, query url.Values, object any) error {
	return c.ask(ctx, http.MethodGet, path, query, nil, object)
}

// Patch changes an object by a merge patch.
func (c *Client) Patch(ctx context.Context, path string, patch any) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodPatch, path, nil, body, nil)
}

func (c *Client) ask(ctx context.Context, method, path string, query url.Values, body []byte, object any) error {
	response, err := c.send(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer := io.LimitReader(response.Body, maxAnswer)
	if object != nil {
		if err := json.NewDecoder(answer).Decode(object); err != nil {
			return fmt.Errorf("read the answer of %s: %w", response.Request.URL, err)
		}
	}
	_, _ = io.Copy(io.Discard, answer) // so that the connection can be used again
	return nil
}

// Stream reads what is not an object. The caller closes it.
func (c *Client) Stream(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	response, err := c.send(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// send returns an answer that is a success; the caller closes its body.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, body []byte) (*http.Response, error) {
	address := c.Host + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept", "application/json, */*")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer response.Body.Close()
	var said struct {
		Message string `json:"message"`
	}
	_ = json.NewDecoder(io.LimitReader(response.Body, maxKubeconfig)).Decode(&said) // another text is no message
	return nil, &StatusError{URL: request.URL.String(), Code: response.StatusCode, Message: said.Message}
}

// Event is one of a watch.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// Deleted is the type of the event of an object that has gone, and Failed that of an error that ends the watch.
const (
	Deleted = "DELETED"
	Failed  = "ERROR"
)

// Watch calls fn with what is there and with each change, until fn returns true or an error, or the server ends the
// watch, as it does from time to time.
func (c *Client) Watch(
	ctx context.Context, path string, query url.Values, fn func(Event) (done bool, err error),
) (done bool, err error) {
	all := url.Values{"watch": {"true"}}
	for key, values := range query {
		all[key] = values
	}
	response, err := c.send(ctx, http.MethodGet, path, all, nil)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	events := json.NewDecoder(response.Body)
	for {
		var event Event
		if err := events.Decode(&event); err != nil {
			return false, ctx.Err() // the server has ended the watch
		}
		if done, err := fn(event); done || err != nil {
			return done, err
		}
	}
}
