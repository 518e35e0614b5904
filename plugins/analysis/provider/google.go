// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// What gcloud reads, too, when the services are reached at other addresses.
const (
	monitoringEndpoint = "CLOUDSDK_API_ENDPOINT_OVERRIDES_MONITORING"
	loggingEndpoint    = "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING"
)

// stackdriver asks Google Cloud Monitoring for numbers, by PromQL, and Google Cloud Logging for entries.
type stackdriver struct {
	config              config.StackdriverConfig
	monitoring, logging *url.URL
	credentials         *googleCredentials
	client              *http.Client
	transport           *http.Transport
}

var (
	_ Metrics = (*stackdriver)(nil)
	_ Logs    = (*stackdriver)(nil)
)

func newStackdriver(c config.StackdriverConfig) (*stackdriver, error) {
	s := &stackdriver{config: c}
	for _, each := range []struct {
		at             **url.URL
		variable, host string
	}{
		{&s.monitoring, monitoringEndpoint, "https://monitoring.googleapis.com"},
		{&s.logging, loggingEndpoint, "https://logging.googleapis.com"},
	} {
		at, err := url.Parse(cmp.Or(os.Getenv(each.variable), each.host))
		if err != nil || at.Host == "" {
			return nil, fmt.Errorf("the variable %s of the environment is not a URL", each.variable)
		}
		*each.at = at
	}
	transport, err := newTransport(nil)
	if err != nil {
		return nil, err
	}
	s.transport, s.client = transport, &http.Client{Transport: transport, CheckRedirect: follow}
	s.credentials = newGoogleCredentials(c.ServiceAccountFile, transport)
	return s, nil
}

func (s *stackdriver) Close() { s.transport.CloseIdleConnections() }

// rangeRequest is the body of Monitoring's query_range.
type rangeRequest struct {
	Query string `json:"query"`
	Start string `json:"start"`
	End   string `json:"end"`
	Step  string `json:"step"`
}

// Query asks by PromQL: Monitoring's own query language has reached its end.
func (s *stackdriver) Query(ctx context.Context, query string, at Range) (*Answer, error) {
	access, err := s.access(ctx)
	if err != nil {
		return nil, err
	}
	address := s.monitoring.JoinPath("v1/projects", access.project, "location/global/prometheus/api/v1/query_range")
	page, err := s.post(ctx, access, address, rangeRequest{
		Query: query, Start: stamp(at.From), End: stamp(at.To),
		Step: strconv.FormatFloat(at.Step.Seconds(), 'f', -1, 64) + "s",
	})
	if err != nil {
		return nil, err
	}
	return parseRange(address, page, at)
}

// access is a token and the project that queries are about.
func (s *stackdriver) access(ctx context.Context) (access, error) {
	a, err := s.credentials.get(ctx)
	if err != nil {
		return access{}, fmt.Errorf("get access to Google Cloud: %w", err)
	}
	if a.project = cmp.Or(s.config.Project, a.project); a.project == "" {
		return access{}, errors.New("config.project is required: the credentials for Google Cloud name no project")
	}
	return a, nil
}

// post sends a request and returns a good answer.
func (s *stackdriver) post(ctx context.Context, as access, address *url.URL, request any) (*page, error) {
	data, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("the address of the provider is not usable")
	}
	req.Header.Set("Content-Type", "application/json")
	repeatable(req)
	as.token.SetAuthHeader(req)
	answer, err := read(s.client, req, nil)
	if answer != nil && err != nil {
		if said := googleMistake(answer.body); said != "" {
			return nil, fmt.Errorf("%s refused the query: %s", place(address), answer.quote(said))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", place(address), err)
	}
	return answer, nil
}

// googleMistake is what an answer says is wrong with a request: as Google's services do, or as Prometheus does.
func googleMistake(body []byte) string {
	var answer struct {
		Error     json.RawMessage `json:"error"`
		ErrorType string          `json:"errorType"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	var own struct{ Status, Message string }
	var text string
	switch {
	case json.Unmarshal(answer.Error, &own) == nil && own.Message != "":
		return strings.TrimPrefix(own.Status+": ", ": ") + own.Message
	case json.Unmarshal(answer.Error, &text) == nil && text != "":
		return strings.TrimPrefix(answer.ErrorType+": ", ": ") + text
	}
	return ""
}
