// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configsource

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2/google"

	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

const configuration = "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  projectID: p\n  pipedID: i\n  " +
	"pipedKeyData: a2V5\n  apiAddress: 127.0.0.1:1\n"

func TestExactlyOneSource(t *testing.T) {
	t.Parallel()
	_, err := Source{}.Load(t.Context())
	require.ErrorContains(t, err, "give --config-file FILE")
	_, err = Source{Data: "x", AWSSecret: "y", AWSParameter: "z"}.Load(t.Context())
	require.EqualError(
		t, err,
		"--config-data and --config-aws-secret and --config-aws-ssm-parameter exclude each other: give one of them",
	)
	_, err = Source{Data: "%%%"}.Load(t.Context())
	require.ErrorContains(t, err, "--config-data is not base64")
	piped, err := Source{Data: base64.StdEncoding.EncodeToString([]byte(configuration)) + "\n"}.Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, "i", piped.PipedID)
}

func TestAWSSecretsAreBase64OrPlain(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte(configuration))
	require.Equal(t, configuration, string(plain(encoded)))
	require.Equal(t, configuration, string(plain(encoded[:40]+"\n"+encoded[40:]+"\n")), "base64 wraps lines")
	require.Equal(t, configuration, string(plain(configuration)))
}

func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]int{
		http.StatusServiceUnavailable: tries, http.StatusTooManyRequests: tries, http.StatusForbidden: 1,
	} {
		var asked int
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.WriteHeader(code)
		}))
		t.Cleanup(server.Close)
		var pauses []time.Duration
		c := newCloud()
		c.clock = clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
			pauses = append(pauses, d)
			return clocktest.Eager{}.After(d)
		})
		_, err := c.do(t.Context(), c.client, get(t, server.URL))
		var refused *refusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, code, refused.code)
		require.Equal(t, want, asked)
		require.Len(t, pauses, want-1)
	}
}

func TestATryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	c := newCloud()
	c.clock = clocktest.TimerFunc(func(time.Duration) <-chan time.Time {
		cancel()
		return nil
	})
	_, err := c.do(ctx, c.client, get(t, server.URL))
	require.Error(t, err)
	require.NotErrorIs(t, err, context.Canceled, "what went wrong says more")
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", maxAnswer+1)))
	}))
	t.Cleanup(server.Close)
	_, err := once(t.Context(), http.DefaultClient, get(t, server.URL))
	require.ErrorContains(t, err, "longer than")
}

func get(t *testing.T, url string) func() (*http.Request, error) {
	return func() (*http.Request, error) {
		return http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	variables := map[string]string{}
	c := &cloud{getenv: func(name string) string { return variables[name] }}
	google := &google.Credentials{}
	for location, want := range map[string]string{
		"":             "https://secretmanager.googleapis.com",
		"europe-west1": "https://secretmanager.europe-west1.rep.googleapis.com",
	} {
		address, err := c.gcpAddress(google, location)
		require.NoError(t, err)
		require.Equal(t, want, address)
	}
	require.Equal(
		t, "https://secretsmanager.eu-west-1.amazonaws.com/",
		c.awsAddress(aws.Config{}, secretsManager, "eu-west-1", ""),
	)
	require.Equal(
		t, "https://ssm.cn-north-1.amazonaws.com.cn/",
		c.awsAddress(aws.Config{}, systemsManager, "cn-north-1", "aws-cn"),
	)
	require.Equal(
		t, "http://x/", c.awsAddress(aws.Config{BaseEndpoint: aws.String("http://x")}, systemsManager, "r", ""),
	)
	variables["AWS_ENDPOINT_URL_SSM"] = "http://y/"
	require.Equal(
		t, "http://y/", c.awsAddress(aws.Config{BaseEndpoint: aws.String("http://x")}, systemsManager, "r", ""),
	)
	for name, location := range map[string]string{
		"projects/p/secrets/s": "", "projects/p/locations/l-1/secrets/s/versions/3": "l-1",
	} {
		parts := gcpName.FindStringSubmatch(name)
		require.NotNil(t, parts, name)
		require.Equal(t, location, parts[1])
	}
	for _, name := range []string{
		"s", "projects/p/secrets/s/versions/", "projects/p/secrets/s:access", "projects/p/secrets/../x",
		"projects/p/locations/evil.example.com/secrets/s",
	} {
		require.Nil(t, gcpName.FindStringSubmatch(name), name)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"payload": {"data": "eA==", "dataCrc32c": "1"}}`))
	f.Add([]byte(`{"SecretString": "eA=="}`))
	f.Fuzz(func(_ *testing.T, answer []byte) {
		_, _ = gcpPayload(answer)
		_ = gcpRefused(&refusedError{code: 403, body: answer})
		_ = awsRefused(systemsManager, "r", &refusedError{code: 400, body: answer})
		_, _ = awsSecretOf(answer)
		_, _ = awsParameterOf(answer)
	})
}
