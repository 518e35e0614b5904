// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// prometheus asks a server by Prometheus' query API (query_range).
type prometheus struct {
	config config.PrometheusConfig
	// endpoint is nil when the address is that of a Service, which may change.
	endpoint  *url.URL
	client    *http.Client
	transport *http.Transport
}

var _ Metrics = (*prometheus)(nil)

func newPrometheus(c config.PrometheusConfig) (*prometheus, error) {
	var endpoint *url.URL
	if !config.HasService(c.Address) {
		var err error
		if endpoint, err = rangeEndpoint(c.Address); err != nil {
			return nil, err
		}
	}
	transport, err := newTransport(c.TLS)
	if err != nil {
		return nil, err
	}
	return &prometheus{
		config: c, endpoint: endpoint, transport: transport,
		client: &http.Client{Transport: transport, CheckRedirect: follow},
	}, nil
}

func rangeEndpoint(address string) (*url.URL, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("config.address is not a URL")
	}
	return at.JoinPath("api/v1/query_range"), nil
}

// at is where queries go now.
func (p *prometheus) at() (*url.URL, error) {
	if p.endpoint != nil {
		return p.endpoint, nil
	}
	address, err := config.FillAddress(p.config.Address)
	if err != nil {
		return nil, err
	}
	return rangeEndpoint(address)
}

func (p *prometheus) Close() { p.transport.CloseIdleConnections() }

// rangeAnswer is the answer of the query API.
type rangeAnswer struct {
	Status    string   `json:"status"`
	ErrorType string   `json:"errorType"`
	Error     string   `json:"error"`
	Warnings  []string `json:"warnings"`
	Data      struct {
		ResultType string `json:"resultType"`
		Result     []struct {
			Values []sample `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

// sample is [unix seconds, "value"].
type sample struct {
	at    time.Time
	value float64
}

func (s *sample) UnmarshalJSON(data []byte) error {
	var seconds float64
	var text string
	if err := json.Unmarshal(data, &[2]any{&seconds, &text}); err != nil {
		return err
	}
	value, err := strconv.ParseFloat(text, 64)
	s.at, s.value = time.UnixMilli(int64(seconds*1000)), value
	return err
}

func (p *prometheus) Query(ctx context.Context, query string, at Range) (*Answer, error) {
	endpoint, err := p.at()
	if err != nil {
		return nil, err
	}
	page, err := p.ask(ctx, endpoint, url.Values{
		"query": {query}, "start": {stamp(at.From)}, "end": {stamp(at.To)},
		"step": {strconv.FormatFloat(at.Step.Seconds(), 'f', -1, 64)},
	})
	var answer rangeAnswer
	if refused := (*statusError)(nil); errors.As(err, &refused) {
		if json.Unmarshal(page.body, &answer) == nil && answer.Error != "" {
			return nil, fmt.Errorf("%s refused the query: %s", place(endpoint),
				page.quote(answer.ErrorType+": "+answer.Error))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", place(endpoint), err)
	}
	return parseRange(endpoint, page, at)
}

// parseRange reads an answer of the query API.
func parseRange(endpoint *url.URL, page *page, at Range) (*Answer, error) {
	var answer rangeAnswer
	if err := json.Unmarshal(page.body, &answer); err != nil || answer.Status != "success" {
		return nil, fmt.Errorf("%s did not answer as Prometheus does: %s", place(endpoint), page.shown())
	}
	if answer.Data.ResultType != "matrix" {
		return nil, fmt.Errorf("%s answered a %q: want a query of numbers", place(endpoint),
			page.quote(answer.Data.ResultType))
	}
	result := &Answer{Series: len(answer.Data.Result), Warnings: answer.Warnings}
	result.within(at, at.Step)
	for _, series := range answer.Data.Result {
		if len(result.Points)+len(series.Values) > maxPoints {
			return nil, fmt.Errorf("the answer has more than %d samples: make the query narrower", maxPoints)
		}
		result.Starts = append(result.Starts, len(result.Points))
		for _, s := range series.Values {
			result.add(s.at, s.value)
		}
	}
	return result, nil
}

// ask posts a form, because queries can be longer than URLs; a server that does not take that is asked by GET.
func (p *prometheus) ask(ctx context.Context, endpoint *url.URL, form url.Values) (*page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errors.New("the address of the provider is not usable")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	repeatable(req)
	if err := p.authorize(req); err != nil {
		return nil, err
	}
	answer, err := read(p.client, req, endpoint)
	if refused := (*statusError)(nil); !errors.As(err, &refused) || refused.code != http.StatusMethodNotAllowed {
		return answer, err
	}
	at := *endpoint
	at.RawQuery = form.Encode()
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, errors.New("the address of the provider is not usable")
	}
	if err := p.authorize(get); err != nil {
		return nil, err
	}
	return read(p.client, get, endpoint)
}

func (p *prometheus) authorize(req *http.Request) error {
	switch {
	case p.config.BearerTokenFile != "":
		token, err := secret("config.bearerTokenFile", p.config.BearerTokenFile)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	case p.config.UsernameFile != "":
		user, err := secret("config.usernameFile", p.config.UsernameFile)
		if err != nil {
			return err
		}
		password, err := secret("config.passwordFile", p.config.PasswordFile)
		if err != nil {
			return err
		}
		req.SetBasicAuth(user, password)
	}
	return nil
}

// stamp is a time as the API reads it: unix seconds.
func stamp(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }
