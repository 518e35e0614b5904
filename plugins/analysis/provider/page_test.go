// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// repeating answers with what it was asked with, as proxies for debugging do, padded so that the end of what an error
// shows is within a secret.
func repeating(t *testing.T, status, padding int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Repeat("-", padding))
		headers, _ := json.Marshal(r.Header)
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "%s %s %s %s", headers, r.URL.RawQuery, user, password)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestNoErrorShowsTheSecretsThatAnAnswerRepeats(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusUnauthorized} {
		for padding := 0; padding < maxShown; padding += 11 {
			s := repeating(t, status, padding)
			withUser := strings.Replace(s, "http://", "http://hidden-user:hidden-password@", 1) + "?token=hidden-token"
			for name, metrics := range map[string]Metrics{
				"bearer": prometheusAt(t, config.PrometheusConfig{Address: s,
					BearerTokenFile: file(t, `hidden"quoted`)}),
				"basic": prometheusAt(t, config.PrometheusConfig{Address: s, UsernameFile: file(t, "hidden-user"),
					PasswordFile: file(t, "hidden-password")}),
				"address": prometheusAt(t, config.PrometheusConfig{Address: withUser}),
				"datadog": datadogAt(t, config.DatadogConfig{Address: s, APIKeyFile: file(t, "hidden-one"),
					ApplicationKeyFile: file(t, "hidden-two")}),
			} {
				_, err := metrics.Query(t.Context(), "a", lastHour)
				require.Error(t, err)
				requireHidden(t, err.Error(), name)
			}
			code := status
			verdict, err := newWeb(t).Request(t.Context(), &config.HTTP{ExpectedCode: code, ExpectedResponse: "other",
				Headers: []config.Header{{Key: "X-Key", Value: "hidden-key"}}}, withUser)
			require.NoError(t, err)
			require.False(t, verdict.Good)
			requireHidden(t, verdict.Reason, "request")
		}
	}
}

// requireHidden refuses the secrets, and the beginning of one at the end of what is shown.
func requireHidden(t *testing.T, text, name string) {
	t.Helper()
	for _, secret := range []string{"hidden", "hidd…", "aGlkZGVu"} {
		require.NotContains(t, text, secret, name)
	}
}

func TestAMaskedAnswerStillSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := prometheusAt(t, config.PrometheusConfig{
		Address: repeating(t, http.StatusForbidden, 0), BearerTokenFile: file(t, "hidden"),
	}).Query(t.Context(), "a", lastHour)
	require.ErrorContains(t, err, `the answer has the status 403 Forbidden: {"Accept-Encoding":["gzip"],`+
		`"Authorization":["******"]`)
}

func TestRedirectsOfProvidersStayWithTheirHost(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked, with %v", r.Header)
	}))
	t.Cleanup(other.Close)
	s := httptest.NewServer(http.RedirectHandler(other.URL+"/there?token=hidden", http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	for _, metrics := range []Metrics{
		prometheusAt(t, config.PrometheusConfig{Address: s.URL, BearerTokenFile: file(t, "hidden")}),
		datadogAt(t, config.DatadogConfig{Address: s.URL, APIKeyFile: file(t, "one"),
			ApplicationKeyFile: file(t, "two")}),
	} {
		_, err := metrics.Query(t.Context(), "a", lastHour)
		require.ErrorContains(t, err, "the answer has the status 307 Temporary Redirect, a redirect that is not "+
			"followed, to "+other.URL+"/there?…")
	}
}

func TestARedirectFromTLSToPlainTextIsNotFollowed(t *testing.T) {
	t.Parallel()
	request := func(address string) *http.Request {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		return req
	}
	for _, c := range []struct {
		from, to string
		followed bool
	}{
		{"https://a/", "http://a/b", false}, {"http://a/", "https://a/b", true}, {"https://a/", "https://a/b", true},
		{"https://a/", "https://a:8443/b", false}, {"https://a/", "https://b/", false},
	} {
		err := follow(request(c.to), []*http.Request{request(c.from)})
		require.Equal(t, c.followed, err == nil, "%s to %s", c.from, c.to)
	}
}

func TestWhatAServerSaysIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for name, answer := range map[string]string{
		"its error type": `{"status":"error","errorType":"` + long + `","error":"e"}`,
		"its error":      `{"status":"error","errorType":"e","error":"` + long + `"}`,
		"its type":       `{"status":"success","data":{"resultType":"` + long + `"}}`,
		"another answer": long,
	} {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answer)
			}))
			t.Cleanup(s.Close)
			_, err := prometheusAt(t, config.PrometheusConfig{Address: s.URL}).Query(t.Context(), "a", lastHour)
			require.Error(t, err, name)
			require.Less(t, len(err.Error()), 2*maxShown, name)
		}
	}
}

func TestAnEmptyAnswerIsSaidToBeEmpty(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	_, err := prometheusAt(t, config.PrometheusConfig{Address: s.URL}).Query(t.Context(), "a", lastHour)
	require.ErrorContains(t, err, "did not answer as Prometheus does: the answer is empty")
}
