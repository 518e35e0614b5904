// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// newGoogle stands in for Google's token server and Secret Manager. It returns variables for piped.
func newGoogle(t *testing.T, e *environment, secret []byte, damaged bool) []string {
	t.Helper()
	var failures atomic.Int32
	failures.Store(1) // the first request meets a passing fault
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("assertion") == "" || r.FormValue(
			"grant_type",
		) != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
			http.Error(w, "no assertion", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token": "the-token", "token_type": "Bearer", "expires_in": 3600}`)
	})
	mux.HandleFunc(
		"GET /computeMetadata/v1/instance/service-accounts/default/token",
		func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Metadata-Flavor") != "Google" {
				http.Error(w, "not for browsers", http.StatusForbidden)
				return
			}
			w.Header().Set("Metadata-Flavor", "Google")
			fmt.Fprint(w, `{"access_token": "the-token", "token_type": "Bearer", "expires_in": 3600}`)
		},
	)
	mux.HandleFunc(
		"GET /v1/projects/{project}/secrets/{secret}/versions/{call}",
		func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Header.Get("Authorization") != "Bearer the-token":
				http.Error(w, `{"error": {"message": "who are you?"}}`, http.StatusUnauthorized)
			case failures.Add(-1) >= 0:
				http.Error(w, "try later", http.StatusServiceUnavailable)
			case r.PathValue("secret") == "closed":
				http.Error(
					w,
					`{"error": {"code": 403, "message": "Permission denied on resource"}}`,
					http.StatusForbidden,
				)
			case r.PathValue("secret") != "piped" || r.PathValue("call") != "latest:access":
				http.Error(w, `{"error": {"code": 404, "message": "Secret not found"}}`, http.StatusNotFound)
			default:
				sum := crc32.Checksum(secret, crc32.MakeTable(crc32.Castagnoli))
				if damaged {
					sum++
				}
				_ = json.NewEncoder(w).Encode(
					map[string]any{"payload": map[string]any{"data": secret, "dataCrc32c": fmt.Sprint(sum)}},
				)
			}
		},
	)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "piped@example.com", "private_key_id": "1",
		"token_uri":   server.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	return []string{
		"GOOGLE_APPLICATION_CREDENTIALS=" + e.write(t, "account.json", string(account)),
		"CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER=" + server.URL + "/",
		"GCE_METADATA_HOST=" + server.Listener.Addr().String(), "HOME=" + e.dir, // without credentials of gcloud
	}
}

var awsScope = regexp.MustCompile(
	`^AWS4-HMAC-SHA256 Credential=AKID/\d{8}/([a-z0-9-]+)/(secretsmanager|ssm)/aws4_request, `,
)

// newAWS stands in for AWS Secrets Manager and Systems Manager. It returns variables for piped.
func newAWS(t *testing.T, content string) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scope := awsScope.FindStringSubmatch(r.Header.Get("Authorization"))
		body, _ := io.ReadAll(r.Body)
		var call struct {
			SecretID       string `json:"SecretId"`
			Name           string
			WithDecryption bool
		}
		refuse := func(kind string) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"__type": "com.amazonaws#%s", "Message": "no"}`, kind)
		}
		switch {
		case scope == nil || json.Unmarshal(body, &call) != nil || r.Header.Get(
			"Content-Type",
		) != "application/x-amz-json-1.1":
			refuse("InvalidSignatureException")
		case scope[2] == "secretsmanager" && call.SecretID == "closed":
			refuse("AccessDeniedException")
		case scope[2] == "secretsmanager" && r.Header.Get("X-Amz-Target") == "secretsmanager.GetSecretValue" &&
			(call.SecretID == "piped" && scope[1] == "eu-west-1" ||
				call.SecretID == "arn:aws:secretsmanager:us-east-2:1:secret:piped" && scope[1] == "us-east-2"):
			_ = json.NewEncoder(w).Encode(map[string]string{"SecretString": content})
		case scope[2] == "ssm" && r.Header.Get(
			"X-Amz-Target",
		) == "AmazonSSM.GetParameter" && call.Name == "/piped" && call.WithDecryption:
			_ = json.NewEncoder(w).Encode(map[string]any{"Parameter": map[string]string{"Value": content}})
		default:
			refuse("ResourceNotFoundException")
		}
	}))
	t.Cleanup(server.Close)
	return []string{
		"AWS_ACCESS_KEY_ID=AKID", "AWS_SECRET_ACCESS_KEY=topsecretkey", "AWS_REGION=eu-west-1",
		"AWS_ENDPOINT_URL_SECRETS_MANAGER=" + server.URL,
		"AWS_ENDPOINT_URL=" + server.URL, "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null",
	}
}

func TestConfigurationFromSecretsOfClouds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flag    string
		plain   bool
		problem string
		code    int
		set     string
	}{
		"Google, version":    {flag: "--config-gcp-secret=projects/p/secrets/piped/versions/latest"},
		"Google, no version": {flag: "--config-gcp-secret=projects/p/secrets/piped"},
		"Google, in a pod": {
			flag: "--config-gcp-secret=projects/p/secrets/piped", set: "GOOGLE_APPLICATION_CREDENTIALS=",
		},
		"Google, no name": {
			flag: "--config-gcp-secret=piped", problem: "write projects/PROJECT/secrets/SECRET", code: 1,
		},
		"Google, not allowed": {
			flag: "--config-gcp-secret=projects/p/secrets/closed", problem: "roles/secretmanager.secretAccessor",
			code: 1,
		},
		"Google, not there": {
			flag: "--config-gcp-secret=projects/p/secrets/other", problem: "gcloud secrets versions list", code: 1,
		},
		"Google, damaged": {
			flag: "--config-gcp-secret=projects/p/secrets/piped", problem: "checksum is wrong", code: 1,
		},
		"AWS, name":       {flag: "--config-aws-secret=piped"},
		"AWS, plain text": {flag: "--config-aws-secret=piped", plain: true},
		"AWS, ARN":        {flag: "--config-aws-secret=arn:aws:secretsmanager:us-east-2:1:secret:piped"},
		"AWS, not allowed": {
			flag: "--config-aws-secret=closed", problem: "allow secretsmanager:GetSecretValue", code: 1,
		},
		"AWS, not there": {
			flag: "--config-aws-secret=other", problem: "see that the name and the region are right", code: 1,
		},
		"AWS, no region": {
			flag: "--config-aws-secret=piped", set: "AWS_REGION=", problem: "set AWS_REGION", code: 1,
		},
		"AWS, parameter":        {flag: "--config-aws-ssm-parameter=/piped"},
		"AWS, not there in SSM": {flag: "--config-aws-ssm-parameter=/other", problem: "ssm in eu-west-1", code: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, pipeline("{}"))
			text, err := os.ReadFile(e.config)
			require.NoError(t, err)
			variables := newGoogle(t, e, text, strings.Contains(name, "damaged"))
			content := base64.StdEncoding.EncodeToString(text)
			if c.plain {
				content = string(text)
			}
			variables = append(variables, newAWS(t, content)...)
			if c.set != "" {
				variables = append(variables, c.set)
			}
			p := execute(t, variables, append(e.flags("run"), c.flag)...)
			if c.problem == "" {
				require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 0).GetStatus())
				return
			}
			require.Equal(t, c.code, p.exit(t), "%s", p.output)
			require.Contains(t, p.output.String(), c.problem)
			require.NotContains(t, p.output.String(), "topsecretkey")
			require.NotContains(t, p.output.String(), "the-token")
		})
	}
}
