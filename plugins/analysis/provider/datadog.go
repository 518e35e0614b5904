// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"encoding/base64"
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

// datadogSite is the default site (PipeCD v1).
const datadogSite = "datadoghq.com"

// datadog asks Datadog for the points of a query of metrics. Datadog chooses the time between two points.
type datadog struct {
	config    config.DatadogConfig
	endpoint  *url.URL
	client    *http.Client
	transport *http.Transport
}

var _ Metrics = (*datadog)(nil)

func newDatadog(c config.DatadogConfig) (*datadog, error) {
	address := c.Address
	if address == "" {
		address = datadogSite
	}
	if !strings.Contains(address, "://") {
		address = "https://api." + strings.TrimPrefix(address, "api.")
	}
	at, err := url.Parse(address)
	if err != nil || at.Host == "" {
		return nil, errors.New("config.address is not a site such as datadoghq.eu, or a URL")
	}
	transport, err := newTransport(nil)
	if err != nil {
		return nil, err
	}
	return &datadog{config: c, endpoint: at.JoinPath("api/v1/query"),
		client: &http.Client{Transport: transport, CheckRedirect: follow}, transport: transport}, nil
}

func (d *datadog) Close() { d.transport.CloseIdleConnections() }

// datadogAnswer is the answer to a query of metrics.
type datadogAnswer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Series []struct {
		// Interval is the time between two points in seconds, each of which stands for the time after it.
		Interval float64 `json:"interval"`
		// Pointlist are pairs of unix milliseconds and a value, which is null where there is none.
		Pointlist [][2]*float64 `json:"pointlist"`
	} `json:"series"`
}

func (d *datadog) Query(ctx context.Context, query string, at Range) (*Answer, error) {
	address := *d.endpoint
	address.RawQuery = url.Values{
		"query": {query}, "from": {strconv.FormatInt(at.From.Unix(), 10)}, "to": {strconv.FormatInt(at.To.Unix(), 10)},
	}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, errors.New("the address of the provider is not usable")
	}
	if err := d.authorize(req); err != nil {
		return nil, err
	}
	page, err := read(d.client, req, d.endpoint)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", place(d.endpoint), err)
	}
	var answer datadogAnswer
	if err := json.Unmarshal(page.body, &answer); err != nil {
		return nil, fmt.Errorf("%s did not answer as Datadog does: %s", place(d.endpoint), page.shown())
	}
	if answer.Status == "error" || answer.Error != "" {
		return nil, fmt.Errorf("%s refused the query: %s", place(d.endpoint), page.quote(answer.Error))
	}
	result := &Answer{Series: len(answer.Series)}
	for _, series := range answer.Series {
		if len(result.Points)+len(series.Pointlist) > maxPoints {
			return nil, fmt.Errorf("the answer has more than %d samples: make the query narrower", maxPoints)
		}
		result.within(at, max(at.Step, time.Duration(series.Interval*float64(time.Second))))
		for _, point := range series.Pointlist {
			if point[0] == nil || point[1] == nil {
				result.NotNumbers++
				continue
			}
			result.add(time.UnixMilli(int64(*point[0])), *point[1])
		}
	}
	return result, nil
}

func (d *datadog) authorize(req *http.Request) error {
	for _, key := range []struct{ header, name, file, data string }{
		{"DD-API-KEY", "config.apiKey", d.config.APIKeyFile, d.config.APIKeyData},
		{"DD-APPLICATION-KEY", "config.applicationKey", d.config.ApplicationKeyFile, d.config.ApplicationKeyData},
	} {
		value, err := keyOf(key.name, key.file, key.data)
		if err != nil {
			return err
		}
		req.Header.Set(key.header, value)
	}
	return nil
}

func keyOf(name, file, data string) (string, error) {
	if file != "" {
		return secret(name+"File", file)
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(data))
	if err != nil {
		return "", fmt.Errorf("%sData is not base64", name) // without the data, which is a secret
	}
	return strings.TrimSpace(string(decoded)), nil
}
