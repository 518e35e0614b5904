// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// maxMetricPages bounds the answers to one query of CloudWatch.
const maxMetricPages = 30

// cloudWatch asks Amazon CloudWatch for the values of expressions and metrics.
type cloudWatch struct {
	config config.CloudWatchConfig
	// turn holds the one who creates the client: the others wait for it, as long as their queries may last.
	turn chan struct{}
	// client belongs to who has the turn. It is nil before the first query.
	client *cloudwatch.Client
}

var _ Metrics = (*cloudWatch)(nil)

func newCloudWatch(c config.CloudWatchConfig) *cloudWatch {
	return &cloudWatch{config: c, turn: make(chan struct{}, 1)}
}

// Close does nothing: the SDK ends connections that are not in use.
func (*cloudWatch) Close() {}

// Query takes an expression, such as a query of Metrics Insights or a SEARCH, or the list MetricDataQueries of
// GetMetricData as JSON.
func (c *cloudWatch) Query(ctx context.Context, query string, at Range) (*Answer, error) {
	queries, err := metricQueries(query, period(at))
	if err != nil {
		return nil, err
	}
	client, err := c.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the settings for AWS: %w", plain(ctx, err))
	}
	input := &cloudwatch.GetMetricDataInput{
		MetricDataQueries: queries, StartTime: aws.Time(at.From), EndTime: aws.Time(at.To),
	}
	result, series := &Answer{}, map[[2]string]bool{}
	result.within(at, max(longestPeriod(queries), at.To.Sub(at.From)))
	for range maxMetricPages {
		page, err := client.GetMetricData(ctx, input)
		if err != nil {
			return nil, c.refused(ctx, err)
		}
		if err := result.addPage(page, series); err != nil {
			return nil, err
		}
		if aws.ToString(page.NextToken) == "" {
			return result, nil
		}
		input.NextToken = page.NextToken
	}
	return nil, fmt.Errorf("CloudWatch did not give all values in %d answers: make the query narrower", maxMetricPages)
}

func (a *Answer) addPage(page *cloudwatch.GetMetricDataOutput, series map[[2]string]bool) error {
	for _, one := range page.MetricDataResults {
		if one.StatusCode == types.StatusCodeForbidden || one.StatusCode == types.StatusCodeInternalError {
			return fmt.Errorf("CloudWatch has no values of %s: %s%s", aws.ToString(one.Label), one.StatusCode,
				said(one.Messages))
		}
		series[[2]string{aws.ToString(one.Id), aws.ToString(one.Label)}] = true
		a.Series = len(series)
		if len(a.Points)+len(one.Values) > maxPoints {
			return fmt.Errorf("the answer has more than %d samples: make the query narrower", maxPoints)
		}
		for i, at := range one.Timestamps[:min(len(one.Timestamps), len(one.Values))] {
			a.add(at, one.Values[i])
		}
	}
	for _, message := range page.Messages {
		a.Warnings = append(a.Warnings, excerpt([]byte(aws.ToString(message.Value))))
	}
	return nil
}

func said(messages []types.MessageData) string {
	var text strings.Builder
	for _, message := range messages {
		text.WriteString(": " + aws.ToString(message.Value))
	}
	return excerpt([]byte(text.String()))
}

// refused is an error in words. What AWS says of a request holds none of its secrets.
func (c *cloudWatch) refused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return plain(ctx, ctx.Err())
	}
	if answer := (smithy.APIError)(nil); errors.As(err, &answer) {
		return fmt.Errorf("CloudWatch in %s refused the query: %s: %s", c.config.Region, answer.ErrorCode(),
			excerpt([]byte(answer.ErrorMessage())))
	}
	if inner := (*smithy.OperationError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("ask CloudWatch in %s: %w", c.config.Region, err)
}

// metricQueries are the queries of a request. Those that have no period get one.
func metricQueries(query string, seconds int32) ([]types.MetricDataQuery, error) {
	if !strings.HasPrefix(strings.TrimSpace(query), "[") {
		return []types.MetricDataQuery{
			{Id: aws.String("q"), Expression: aws.String(query), Period: aws.Int32(seconds)},
		}, nil
	}
	decoder := json.NewDecoder(strings.NewReader(query))
	decoder.DisallowUnknownFields()
	var queries []types.MetricDataQuery
	if err := decoder.Decode(&queries); err != nil {
		return nil, fmt.Errorf("the query is not a list MetricDataQueries of CloudWatch in JSON: %w", err)
	}
	for i := range queries {
		switch q := &queries[i]; {
		case q.MetricStat != nil && q.MetricStat.Period == nil:
			q.MetricStat.Period = aws.Int32(seconds)
		case q.MetricStat == nil && q.Period == nil:
			q.Period = aws.Int32(seconds)
		}
	}
	return queries, nil
}

// longestPeriod is the longest time between two samples of queries, as far as it is a key of theirs.
func longestPeriod(queries []types.MetricDataQuery) time.Duration {
	var longest int32
	for _, q := range queries {
		longest = max(longest, aws.ToInt32(q.Period))
		if q.MetricStat != nil {
			longest = max(longest, aws.ToInt32(q.MetricStat.Period))
		}
	}
	return time.Duration(longest) * time.Second
}

// PeriodsOfCloudWatch is how many samples of one series CloudWatch has of an interval at most.
func PeriodsOfCloudWatch(m *config.Metric) int {
	seconds := period(Range{Step: m.SampleStep(), AnyStep: m.Step == 0})
	return int(m.Interval.Std() / (time.Duration(seconds) * time.Second))
}

// period is the time between two samples in seconds, as CloudWatch has it: only metrics of a high resolution have less
// than a minute, so that only users choose that.
func period(at Range) int32 {
	seconds := int32(min((at.Step+time.Second-1)/time.Second, 24*3600))
	if at.AnyStep {
		seconds = max(seconds, 60)
	}
	short := []int32{1, 5, 10, 20, 30}
	if i := slices.IndexFunc(short, func(s int32) bool { return s >= seconds }); i >= 0 {
		return short[i]
	}
	return (seconds + 59) / 60 * 60
}
