// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/cbor"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/rpcv2"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// metricServer is a CloudWatch that decodes requests into the SDK's types and answers by the SDK's serializers, to who
// signs with the secret key.
type metricServer struct {
	*httptest.Server
	secret string

	mu    sync.Mutex
	asked []*cloudwatch.GetMetricDataInput
	// answer is asked for each request; refused is the name of an error in its place.
	answer  func(*cloudwatch.GetMetricDataInput) *cloudwatch.GetMetricDataOutput
	refused string
}

func newMetricServer(t *testing.T) *metricServer {
	t.Helper()
	s := &metricServer{secret: "secret-1"}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	for _, name := range []string{"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "")
	}
	return s
}

func (s *metricServer) handle(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.FormValue("Action") == "AssumeRoleWithWebIdentity" || strings.Contains(string(body), "WebIdentity") {
		_, _ = fmt.Fprintf(w, `<R><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>key</AccessKeyId>`+
			`<SecretAccessKey>%s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration>`+
			`</Credentials></AssumeRoleWithWebIdentityResult></R>`, s.secret,
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		return
	}
	switch {
	case r.URL.Path != "/service/GraniteServiceVersion20100801/operation/GetMetricData" ||
		r.Header.Get("Smithy-Protocol") != "rpc-v2-cbor":
		http.NotFound(w, r)
	case !s.signed(r, body):
		s.fail(w, "InvalidSignatureException")
	case s.refused != "":
		s.fail(w, s.refused)
	default:
		input, err := decodeInput(body)
		if err != nil {
			s.fail(w, err.Error())
			return
		}
		s.asked = append(s.asked, input)
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		_, _ = w.Write(encodeOutput(r, s.answer(input)))
	}
}

func (*metricServer) fail(w http.ResponseWriter, name string) {
	w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(cbor.Encode(cbor.Map{"__type": cbor.String(name), "message": cbor.String("no way")}))
}

// signed signs the request again and compares.
func (s *metricServer) signed(r *http.Request, body []byte) bool {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	_, rest, found := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	if err != nil || !found {
		return false
	}
	names, _, _ := strings.Cut(rest, ",")
	again := r.Clone(r.Context())
	again.URL.Scheme, again.URL.Host, again.Header = "http", r.Host, http.Header{}
	for _, name := range strings.Split(names, ";") {
		if values := r.Header.Values(name); len(values) > 0 {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	sum := sha256.Sum256(body)
	keys := aws.Credentials{AccessKeyID: "key", SecretAccessKey: s.secret,
		SessionToken: r.Header.Get("X-Amz-Security-Token")}
	err = v4.NewSigner().SignHTTP(r.Context(), keys, again, hex.EncodeToString(sum[:]), "monitoring", "eu-west-1", at)
	return err == nil && again.Header.Get("Authorization") == r.Header.Get("Authorization")
}

// decodeInput decodes a request into the SDK's type, which refuses keys that it does not have.
func decodeInput(body []byte) (*cloudwatch.GetMetricDataInput, error) {
	value, err := cbor.Decode(body)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(plainValue(value))
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	input := &cloudwatch.GetMetricDataInput{}
	return input, decoder.Decode(input)
}

func plainValue(value cbor.Value) any {
	switch v := value.(type) {
	case cbor.Map:
		plain := map[string]any{}
		for key, each := range v {
			plain[key] = plainValue(each)
		}
		return plain
	case cbor.List:
		plain := []any{}
		for _, each := range v {
			plain = append(plain, plainValue(each))
		}
		return plain
	case cbor.String:
		return string(v)
	case cbor.Uint:
		return uint64(v)
	case cbor.Bool:
		return bool(v)
	case *cbor.Tag: // a time
		switch seconds := v.Value.(type) {
		case cbor.Uint:
			return time.Unix(int64(seconds), 0).UTC()
		case cbor.Float64:
			return time.UnixMilli(int64(float64(seconds) * 1000)).UTC()
		}
	}
	return fmt.Sprintf("unexpected %T", value)
}

func encodeOutput(r *http.Request, output *cloudwatch.GetMetricDataOutput) []byte {
	shape := schemas.GetMetricDataOutput
	request, _ := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	err := rpcv2.NewCBOR(schemas.GraniteServiceVersion20100801).SerializeRequest(r.Context(),
		smithy.NewOperationSchema(schemas.GetMetricData, shape, shape), output, request)
	if err != nil || request.GetStream() == nil {
		return nil
	}
	body, _ := io.ReadAll(request.GetStream())
	return body
}

func cloudWatchAt(t *testing.T, c config.CloudWatchConfig) Metrics {
	t.Helper()
	c.Region = "eu-west-1"
	data, err := json.Marshal(c)
	require.NoError(t, err)
	metrics, err := NewMetrics(&config.Provider{Name: "cw", Type: config.CloudWatch, Config: data})
	require.NoError(t, err)
	t.Cleanup(metrics.Close)
	return metrics
}

func credentials(t *testing.T, profile, secret string) string {
	t.Helper()
	return file(t, "["+profile+"]\naws_access_key_id = key\naws_secret_access_key = "+secret+"\n")
}

func TestCloudWatchIsAskedByTheSDK(t *testing.T) {
	s := newMetricServer(t)
	at := time.Unix(1_800_000_060, 0).UTC()
	s.answer = func(input *cloudwatch.GetMetricDataInput) *cloudwatch.GetMetricDataOutput {
		if input.NextToken == nil {
			return &cloudwatch.GetMetricDataOutput{NextToken: aws.String("next"), Messages: []types.MessageData{
				{Code: aws.String("a"), Value: aws.String("slow")}},
				MetricDataResults: []types.MetricDataResult{{Id: aws.String("q"), Label: aws.String("a"),
					StatusCode: types.StatusCodePartialData, Timestamps: []time.Time{at}, Values: []float64{1.5}}}}
		}
		return &cloudwatch.GetMetricDataOutput{MetricDataResults: []types.MetricDataResult{
			{Id: aws.String("q"), Label: aws.String("a"), StatusCode: types.StatusCodeComplete,
				Timestamps: []time.Time{at.Add(time.Minute)}, Values: []float64{2}},
			{Id: aws.String("q"), Label: aws.String("b"), StatusCode: types.StatusCodeComplete}}}
	}
	const query = `SELECT SUM(Errors) FROM "Shop" GROUP BY Version`
	answer, err := cloudWatchAt(t, config.CloudWatchConfig{CredentialsFile: credentials(t, "default", "secret-1")}).
		Query(t.Context(), query, lastHour)
	require.NoError(t, err)
	require.Equal(t, []float64{1.5, 2}, answer.Values())
	require.Equal(t, at.Unix(), answer.Points[0].At.Unix())
	require.Equal(t, 2, answer.Series)
	require.Equal(t, []string{"slow"}, answer.Warnings)
	require.Equal(t, []types.MetricDataQuery{{Id: aws.String("q"), Expression: aws.String(query),
		Period: aws.Int32(120)}}, s.asked[0].MetricDataQueries)
	require.Equal(t, lastHour.From.UTC(), *s.asked[0].StartTime)
	require.Equal(t, lastHour.To.UTC(), *s.asked[0].EndTime)
	require.Equal(t, "next", *s.asked[1].NextToken)

	s.answer = func(*cloudwatch.GetMetricDataInput) *cloudwatch.GetMetricDataOutput {
		return &cloudwatch.GetMetricDataOutput{NextToken: aws.String("again")}
	}
	_, err = cloudWatchAt(t, config.CloudWatchConfig{CredentialsFile: credentials(t, "default", "secret-1")}).
		Query(t.Context(), query, lastHour)
	require.ErrorContains(t, err, "did not give all values in 30 answers: make the query narrower")
}

func TestAListOfMetricDataQueries(t *testing.T) {
	s := newMetricServer(t)
	s.answer = func(*cloudwatch.GetMetricDataInput) *cloudwatch.GetMetricDataOutput {
		return &cloudwatch.GetMetricDataOutput{}
	}
	metrics := cloudWatchAt(t, config.CloudWatchConfig{CredentialsFile: credentials(t, "default", "secret-1")})
	answer, err := metrics.Query(t.Context(), ` [
		{"Id": "e", "MetricStat": {"Metric": {"Namespace": "Shop", "MetricName": "Errors",
			"Dimensions": [{"Name": "Version", "Value": "v2"}]}, "Stat": "Sum"}, "ReturnData": false},
		{"Id": "r", "Expression": "e/60", "Period": 300}]`, Range{From: lastHour.From, To: lastHour.To, Step: 3e9})
	require.NoError(t, err)
	require.Zero(t, answer.Series)
	require.Equal(t, []types.MetricDataQuery{
		{Id: aws.String("e"), ReturnData: aws.Bool(false), MetricStat: &types.MetricStat{Stat: aws.String("Sum"),
			Period: aws.Int32(5), Metric: &types.Metric{Namespace: aws.String("Shop"), MetricName: aws.String("Errors"),
				Dimensions: []types.Dimension{{Name: aws.String("Version"), Value: aws.String("v2")}}}}},
		{Id: aws.String("r"), Expression: aws.String("e/60"), Period: aws.Int32(300)},
	}, s.asked[0].MetricDataQueries)
	_, err = metrics.Query(t.Context(), `[{"Ids":"a"}]`, lastHour)
	require.ErrorContains(t, err, `is not a list MetricDataQueries of CloudWatch in JSON: json: unknown field "Ids"`)
}

func TestWhoAsksCloudWatch(t *testing.T) {
	s := newMetricServer(t)
	s.answer = func(*cloudwatch.GetMetricDataInput) *cloudwatch.GetMetricDataOutput {
		return &cloudwatch.GetMetricDataOutput{MetricDataResults: []types.MetricDataResult{
			{Label: aws.String("a"), StatusCode: types.StatusCodeForbidden, Messages: []types.MessageData{
				{Value: aws.String("not yours")}}}}}
	}
	foreign := credentials(t, "ops", "hidden")
	for name, c := range map[string]struct {
		config  config.CloudWatchConfig
		refused string
		want    string
	}{
		"a profile": {config.CloudWatchConfig{Profile: "ops", CredentialsFile: credentials(t, "ops", "secret-1")}, "",
			"CloudWatch has no values of a: Forbidden: not yours"},
		"a role with a token": {config.CloudWatchConfig{RoleARN: "arn:aws:iam::1:role/r", TokenFile: file(t, "hidden")},
			"", "CloudWatch has no values of a"},
		"another key": {config.CloudWatchConfig{CredentialsFile: credentials(t, "default", "hidden")}, "",
			"CloudWatch in eu-west-1 refused the query: InvalidSignatureException: no way"},
		"no rights": {config.CloudWatchConfig{CredentialsFile: credentials(t, "default", "secret-1")},
			"AccessDeniedException", "refused the query: AccessDeniedException: no way"},
		"another profile": {config.CloudWatchConfig{Profile: "absent", CredentialsFile: foreign}, "",
			"read the settings for AWS: failed to get shared config profile, absent"},
		"a file without keys": {config.CloudWatchConfig{CredentialsFile: file(t, "hidden")}, "",
			"ask CloudWatch in eu-west-1: "},
	} {
		t.Run(name, func(t *testing.T) {
			s.mu.Lock()
			s.refused = c.refused
			s.mu.Unlock()
			_, err := cloudWatchAt(t, c.config).Query(t.Context(), "q", lastHour)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "hidden")
			require.NotContains(t, err.Error(), "secret-1")
		})
	}
}

func TestThePeriodsOfCloudWatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step time.Duration
		any  bool
		want int32
	}{
		{time.Second, false, 1}, {1500 * time.Millisecond, false, 5}, {11 * time.Second, false, 20},
		{31 * time.Second, false, 60}, {time.Minute, false, 60}, {61 * time.Second, false, 120},
		{time.Second, true, 60}, {5 * time.Minute, true, 300}, {1000 * time.Hour, false, 24 * 3600},
	} {
		require.Equal(t, c.want, period(Range{Step: c.step, AnyStep: c.any}), "%s", c.step)
	}
}
