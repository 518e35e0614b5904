// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// configure adds lines to the spec of the piped configuration.
func (e *environment) configure(t *testing.T, lines string) {
	t.Helper()
	file, err := os.OpenFile(e.config, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString(lines)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func TestAWebhookHearsOfAllThatHappens(t *testing.T) {
	t.Parallel()
	types := make(chan int, 100)
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Type     int
			Metadata struct {
				Deployment struct {
					Name string `json:"application_name"`
				} `json:"deployment"`
			}
		}
		if json.NewDecoder(r.Body).Decode(&event) == nil && (event.Type >= 100 || event.Metadata.Deployment.Name == "app") && r.Header.Get("PipeCD-Signature") == "s" {
			types <- event.Type
		}
	}))
	t.Cleanup(site.Close)
	e := newEnvironment(t, pipeline("{log: hello}", "{}"))
	e.configure(t, fmt.Sprintf(`  notifications:
    receivers: [{name: hook, webhook: {url: "%s", signatureValue: s}}]
    routes: [{receiver: hook, groups: [DEPLOYMENT, STAGE, PIPED]}]
`, site.URL))
	p := e.start(t)
	e.deck.awaitEnd(t, 0)
	p.terminate(t)

	var heard []int
	for last := 0; last != 301; heard = append(heard, last) {
		select {
		case last = <-types:
		case <-time.After(wait):
			require.Fail(t, "the end of piped was not heard of", "%v", heard)
		}
	}
	require.Equal(t, []int{300, 0, 1, 9, 400, 402, 400, 402, 4, 301}, heard,
		"piped started; triggered, planned, started; two stages started and succeeded; succeeded; piped stopped")
}
