// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/observe"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
	"github.com/pipedeck/pipedeck/system/logtest"
)

// request is what a receiver got.
type request struct {
	path   string
	header http.Header
	body   []byte
}

// site is a receiver on 127.0.0.1 that gives the set answers.
type site struct {
	*httptest.Server
	got     chan request
	mu      sync.Mutex
	answers []func(http.ResponseWriter) // the next ones; afterwards 200
}

func newSite(t *testing.T, answers ...func(http.ResponseWriter)) *site {
	t.Helper()
	s := &site{got: make(chan request, 100), answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.got <- request{r.URL.Path, r.Header, body}
		s.mu.Lock()
		var answer func(http.ResponseWriter)
		if len(s.answers) > 0 {
			answer, s.answers = s.answers[0], s.answers[1:]
		}
		s.mu.Unlock()
		if answer != nil {
			answer(w)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func code(status int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	}
}

func text(body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { fmt.Fprint(w, body) }
}

// running is a Notifier that runs until the test ends, with a clock on which every pause is over at once.
type running struct {
	*Notifier
	logs   *logtest.Buffer
	pauses chan time.Duration
	stop   func()
}

func start(t *testing.T, c config.Notifications, adjust ...func(*Options)) *running {
	t.Helper()
	r := &running{logs: &logtest.Buffer{}, pauses: make(chan time.Duration, 100)}
	o := Options{
		Notifications: c, WebAddress: func() string { return "https://pipecd.example/" },
		Logger: slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Clock: clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
			if d == flushTimeout {
				return nil
			}
			r.pauses <- d
			return clocktest.Eager{}.After(d)
		}),
	}
	for _, change := range adjust {
		change(&o)
	}
	var err error
	r.Notifier, err = New(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = r.Run(ctx) }()
	r.stop = func() { cancel(); <-done }
	t.Cleanup(r.stop)
	return r
}

func everything(receivers ...config.NotificationReceiver) config.Notifications {
	c := config.Notifications{Receivers: receivers}
	for _, r := range receivers {
		c.Routes = append(c.Routes, config.NotificationRoute{Receiver: r.Name})
	}
	return c
}

func hook(s *site) config.NotificationReceiver {
	return config.NotificationReceiver{
		Name: "hook",
		Webhook: &config.Webhook{
			URL: s.URL + "/secret-path", SignatureKey: "PipeCD-Signature", SignatureValue: "secret-signature",
		},
	}
}

func failed() observe.Event {
	return observe.Event{
		Type: observe.DeploymentFailed, At: time.Unix(1700000000, 0), Reason: "Stage A failed: <boom>",
		Deployment: &model.Deployment{
			Id: "0123456789", ApplicationId: "app-id", ApplicationName: "shop", ProjectId: "p",
			Labels: map[string]string{"env": "dev"}, CreatedAt: 1690000000,
			Trigger: &model.DeploymentTrigger{
				Commit: &model.Commit{Hash: "abcdef0123", Message: "Fix", Author: "Ada", Url: "https://git.example/c"},
			},
			MetadataV2: &model.DeploymentMetadata{
				Shared: &model.DeploymentMetadata_KeyValues{KeyValues: map[string]string{
					notificationKey: `{"mentions": [
					{"event": "DEPLOYMENT_FAILED", "slack": ["U1"], "slackusers": ["U2", "U1"], "slackgroups": ["G1"]},
					{"event": "DEPLOYMENT_CANCELLED", "slackusers": ["U9"]},
					{"event": "*", "slackgroups": ["<!subteam^G2>"]}]}`,
				}},
			},
		},
	}
}

func receive(t *testing.T, s *site) request {
	t.Helper()
	select {
	case r := <-s.got:
		return r
	case <-time.After(time.Minute):
		require.Fail(t, "no request came")
		return request{}
	}
}

func TestWebhookGetsPipeCDsJSONWithTheSignature(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	file := filepath.Join(t.TempDir(), "signature")
	require.NoError(t, os.WriteFile(file, []byte("from-file\n"), 0o600))
	receiver := hook(s)
	receiver.Webhook.SignatureValue, receiver.Webhook.SignatureValueFile = "", file
	n := start(t, everything(receiver))

	n.Notify(failed())
	r := receive(t, s)
	require.Equal(t, "from-file", r.header.Get("PipeCD-Signature"))
	require.Equal(t, "application/json", r.header.Get("Content-Type"))
	var got struct {
		Type     int
		Metadata struct {
			Deployment        map[string]any `json:"deployment"`
			Reason            string         `json:"reason"`
			MentionedAccounts []string       `json:"mentioned_accounts"`
			MentionedGroups   []string       `json:"mentioned_groups"`
		}
	}
	require.NoError(t, json.Unmarshal(r.body, &got))
	require.Equal(t, 5, got.Type)
	require.Equal(t, "shop", got.Metadata.Deployment["application_name"])
	require.Equal(t, "Stage A failed: <boom>", got.Metadata.Reason)
	require.Equal(t, []string{"U1", "U2"}, got.Metadata.MentionedAccounts, "those of the event itself, each once")
	require.Equal(t, []string{"G1", "<!subteam^G2>"}, got.Metadata.MentionedGroups)

	require.NoError(t, os.WriteFile(file, []byte("replaced"), 0o600))
	n.Notify(
		observe.Event{
			Type: observe.PipedStarted, Piped: &observe.Identity{ID: "i", Name: "n", Version: "v", ProjectID: "p"},
		},
	)
	r = receive(t, s)
	require.Equal(t, "replaced", r.header.Get("PipeCD-Signature"))
	require.JSONEq(
		t, `{"Type": 300, "Metadata": {"id": "i", "name": "n", "version": "v", "project_id": "p"}}`, string(r.body),
	)
}

func TestSlackHookGetsAMessageThatCallsPeople(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	n := start(
		t,
		everything(
			config.NotificationReceiver{
				Name: "chat",
				Slack: &config.SlackTarget{
					HookURL: s.URL + "/services/T/B/secret", MentionedAccounts: []string{"U1", "U3"},
				},
			},
		),
	)
	n.Notify(failed())
	r := receive(t, s)
	require.Equal(t, "/services/T/B/secret", r.path)
	require.Empty(t, r.header.Get("Authorization"))
	var m slackMessage
	require.NoError(t, json.Unmarshal(r.body, &m))
	require.Equal(t, "<@U1> <@U2> <@U3> <!subteam^G1> <!subteam^G2>", m.Text)
	require.Len(t, m.Attachments, 1)
	a := m.Attachments[0]
	require.Equal(t, "Deployment of shop has failed", a.Title)
	require.Equal(t, "https://pipecd.example/deployments/0123456789?project=p", a.TitleLink)
	require.Equal(t, "Stage A failed: &lt;boom&gt;", a.Text)
	require.Equal(t, colorError, a.Color)
	require.Equal(t, []slackField{
		{"Project", "p", true},
		{"Application", "<https://pipecd.example/applications/app-id?project=p|shop>", true},
		{"Deployment", "<https://pipecd.example/deployments/0123456789?project=p|01234567…>", true},
		{"Commit", "<https://git.example/c|abcdef0…>", true},
		{"Triggered by", "Ada", true},
		{"Started at", "<!date^1690000000^{date_num} {time_secs}|2023-07-22T04:26:40Z>", true},
	}, a.Fields)
}

func TestSlackAPIIsCalledWithTheToken(t *testing.T) {
	t.Parallel()
	s := newSite(
		t, text(`{"ok": false, "error": "internal_error"}`), text(`{"ok": true}`),
		text(`{"ok": false, "error": "channel_not_found"}`),
	)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("xoxb-secret\n"), 0o600))
	n := start(t, everything(
		config.NotificationReceiver{Name: "chat", Slack: &config.SlackTarget{OAuthTokenFile: file, ChannelID: "C1"}},
	),
		func(o *Options) { o.SlackAPI = s.URL + "/api/" })
	n.Notify(failed())
	for range 2 {
		r := receive(t, s)
		require.Equal(t, "/api/chat.postMessage", r.path)
		require.Equal(t, "Bearer xoxb-secret", r.header.Get("Authorization"))
		require.Contains(t, string(r.body), `"channel":"C1"`)
	}
	n.Notify(failed())
	receive(t, s)
	n.stop()
	stats := n.Stats()
	require.ErrorContains(t, stats[0].Failure, "channel_not_found")
	stats[0].Failure = nil
	require.Equal(t, []Stats{{Receiver: "chat", Sent: 1, Failed: 1}}, stats)
	require.Contains(t, n.logs.String(), "channel_not_found")
	require.NotContains(t, n.logs.String(), "xoxb-secret")
}

func TestPassingFailuresAreTriedAgainAndOthersAreNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []func(http.ResponseWriter)
		tries   int
		sent    int64
		atLeast time.Duration
	}{
		"taken":        {nil, 1, 1, 0},
		"server error": {[]func(http.ResponseWriter){code(500), code(503)}, 3, 1, 0},
		"too many, with Retry-After": {
			[]func(http.ResponseWriter){code(429, "Retry-After", "7")}, 2, 1, 7 * time.Second,
		},
		"an endless Retry-After": {
			[]func(http.ResponseWriter){code(429, "Retry-After", "99999")}, 2, 1, time.Minute,
		},
		"refused": {[]func(http.ResponseWriter){code(400)}, 1, 0, 0},
		"moved":   {[]func(http.ResponseWriter){code(307, "Location", "/elsewhere")}, 1, 0, 0},
		"never taken": {[]func(http.ResponseWriter){
			code(500), code(500), code(500), code(500), code(500), code(500), code(500),
		}, maxTries, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.answers...)
			n := start(t, everything(hook(s)))
			n.Notify(failed())
			for range c.tries {
				require.Equal(t, "/secret-path", receive(t, s).path)
			}
			n.stop()
			require.Empty(t, s.got)
			stats := n.Stats()
			require.Equal(t, c.sent == 0, stats[0].Failure != nil)
			stats[0].Failure = nil
			require.Equal(t, []Stats{{Receiver: "hook", Sent: c.sent, Failed: 1 - c.sent}}, stats)
			require.NotContains(t, n.logs.String(), "secret")
			require.Len(t, n.pauses, c.tries-1)
			if c.tries > 1 {
				pause := <-n.pauses
				require.GreaterOrEqual(t, pause, c.atLeast)
				require.LessOrEqual(t, pause, max(c.atLeast, firstPause))
			}
		})
	}
}

func TestAReceiverThatTakesANotificationAgainHasNoFailure(t *testing.T) {
	t.Parallel()
	s := newSite(t, code(403))
	n := start(t, everything(hook(s)))
	n.Notify(failed())
	receive(t, s)
	require.Eventually(t, func() bool { return n.Stats()[0].Failure != nil }, time.Minute, time.Millisecond)
	require.ErrorContains(t, n.Stats()[0].Failure, "403")
	n.Notify(failed())
	receive(t, s)
	require.Eventually(t, func() bool { return n.Stats()[0].Failure == nil }, time.Minute, time.Millisecond)
}

func TestNetworkFailuresAreRetriedWithoutShowingTheURL(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := everything(hook(s))
	s.Close()
	n := start(t, c)
	n.Notify(failed())
	for range maxTries - 1 {
		<-n.pauses
	}
	n.stop()
	require.Equal(t, int64(1), n.Stats()[0].Failed)
	require.Contains(t, n.logs.String(), "connection refused")
	require.NotContains(t, n.logs.String(), "secret")
}

func TestAFullQueueDropsAndSaysHowMany(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := newSite(t, func(http.ResponseWriter) { <-release })
	n := start(t, everything(hook(s)))
	n.Notify(failed())
	receive(t, s) // its sender now waits for the answer
	for range queueSize + 3 {
		n.Notify(failed())
	}
	require.Equal(t, Stats{Receiver: "hook", Queued: queueSize, Dropped: 3}, n.Stats()[0])
	go func() { // more requests than the test wants to look at
		for range s.got {
		}
	}()
	close(release)
	n.stop()
	require.Equal(
		t, Stats{Receiver: "hook", Sent: queueSize + 1, Dropped: 3}, n.Stats()[0],
		"what is queued is sent before the end",
	)
	require.Contains(t, n.logs.String(), `msg="notifications were dropped" receiver=hook number=3`)
	s.Close()
	close(s.got)
}

func TestTheEndWaitsForAReceiverThatHangsOnlySoLong(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := newSite(t, func(http.ResponseWriter) { <-release })
	flushOver := make(chan time.Time, 1)
	n := start(t, everything(hook(s)), func(o *Options) {
		o.Clock = clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
			if d == flushTimeout {
				return flushOver
			}
			return nil
		})
	})
	for range 3 {
		n.Notify(failed())
	}
	receive(t, s)
	flushOver <- time.Time{}
	n.stop()
	close(release)
	require.Contains(t, n.logs.String(), "number=2")
}

func TestTemplatesMakeTheMessage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	asJSON, asText := hook(s), hook(s)
	asJSON.Name, asJSON.Template = "json", `{"text": {{ json (print .Title " in " .Labels.env) }}}`
	asText.Name, asText.Template = "text", `{{ .Application }}{{ .Labels.none }}: {{ shorten .Reason 7 }}`
	chat := config.NotificationReceiver{
		Name: "chat", Template: "*{{ .Reason }}*", Slack: &config.SlackTarget{HookURL: s.URL},
	}
	n := start(t, everything(asJSON))
	n.Notify(failed())
	r := receive(t, s)
	require.JSONEq(t, `{"text": "Deployment of shop has failed in dev"}`, string(r.body))
	require.Equal(t, "application/json", r.header.Get("Content-Type"))
	start(t, everything(asText)).Notify(failed())
	r = receive(t, s)
	require.Equal(t, "shop: Stage A…", string(r.body))
	require.Equal(t, "text/plain; charset=utf-8", r.header.Get("Content-Type"))
	start(t, everything(chat)).Notify(failed())
	require.Contains(t, string(receive(t, s).body), `*Stage A failed: \u0026lt;boom\u0026gt;*`)
}

func TestMistakesInTheConfigurationAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	hook := func(change func(*config.NotificationReceiver)) config.Notifications {
		r := config.NotificationReceiver{Name: "r", Webhook: &config.Webhook{URL: "https://example.com/secret"}}
		change(&r)
		return everything(r)
	}
	slack := func(c config.SlackTarget) config.Notifications {
		return everything(config.NotificationReceiver{Name: "r", Slack: &c})
	}
	for want, c := range map[string]config.Notifications{
		"neither slack nor webhook": everything(config.NotificationReceiver{Name: "r"}),
		"both slack and webhook":    hook(func(r *config.NotificationReceiver) { r.Slack = &config.SlackTarget{} }),
		"not of the form https":     hook(func(r *config.NotificationReceiver) { r.Webhook.URL = "ftp://secret" }),
		"signatureValueFile": hook(
			func(r *config.NotificationReceiver) { r.Webhook.SignatureValueFile = "/does/not/exist" },
		),
		"keep one": hook(func(r *config.NotificationReceiver) {
			r.Webhook.SignatureValueFile, r.Webhook.SignatureValue = "a", "secret"
		}),
		"can't evaluate field Nonsense": hook(func(r *config.NotificationReceiver) { r.Template = "{{ .Nonsense }}" }),
		"read the template":             hook(func(r *config.NotificationReceiver) { r.Template = "{{" }),
		"writes more than": hook(
			func(r *config.NotificationReceiver) { r.Template = `{{ printf "%300000d" 1 }}` },
		),
		"neither hookURL nor a token":  slack(config.SlackTarget{}),
		"no channelID":                 slack(config.SlackTarget{OAuthToken: "secret"}),
		"not base64":                   slack(config.SlackTarget{OAuthTokenData: "%secret"}),
		"slack.hookURL":                slack(config.SlackTarget{HookURL: "secret"}),
		"both hookURL and a token":     slack(config.SlackTarget{HookURL: "https://a/secret", OAuthToken: "secret"}),
		"oauthTokenFile":               slack(config.SlackTarget{OAuthTokenFile: "/does/not/exist"}),
		`there is no receiver "other"`: {Routes: []config.NotificationRoute{{Receiver: "other"}}},
	} {
		_, err := New(Options{Notifications: c})
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestRoutesWithNamesOfNoEventAreAccepted(t *testing.T) {
	t.Parallel()
	for _, route := range []config.NotificationRoute{{Events: []string{"DEPLOYMENT"}}, {IgnoreGroups: []string{"X"}}} {
		n, err := New(Options{Notifications: withRoute(route)})
		require.NoError(t, err, "the validator only warns of them")
		n.transport.CloseIdleConnections()
	}
}

func withRoute(route config.NotificationRoute) config.Notifications {
	route.Receiver = "r"
	return config.Notifications{
		Receivers: []config.NotificationReceiver{{Name: "r", Webhook: &config.Webhook{URL: "https://example.com"}}},
		Routes:    []config.NotificationRoute{route},
	}
}

func TestRoutesChooseEvents(t *testing.T) {
	t.Parallel()
	deployment, piped := failed(), observe.Event{Type: observe.PipedStopped, Piped: &observe.Identity{}}
	stage := failed()
	stage.Type = observe.StageFailed
	bare := failed()
	bare.Deployment = &model.Deployment{ApplicationName: "bare"}
	all := []observe.Event{deployment, stage, bare, piped}
	for name, c := range map[string]struct {
		route config.NotificationRoute
		want  []bool // of all
	}{
		"nothing given takes all": {config.NotificationRoute{}, []bool{true, true, true, true}},
		"events": {
			config.NotificationRoute{Events: []string{"STAGE_FAILED"}}, []bool{false, true, false, false},
		},
		"groups": {
			config.NotificationRoute{Groups: []string{"DEPLOYMENT", "PIPED"}}, []bool{true, false, true, true},
		},
		"events and groups have to match both": {
			config.NotificationRoute{Events: []string{"STAGE_FAILED"}, Groups: []string{"DEPLOYMENT"}},
			[]bool{false, false, false, false},
		},
		"ignored events win": {
			config.NotificationRoute{Events: []string{"STAGE_FAILED"}, IgnoreEvents: []string{"STAGE_FAILED"}},
			[]bool{false, false, false, false},
		},
		"ignored groups win": {
			config.NotificationRoute{IgnoreGroups: []string{"DEPLOYMENT"}}, []bool{false, true, false, true},
		},
		"apps do not concern events of piped": {
			config.NotificationRoute{Apps: []string{"shop"}}, []bool{true, true, false, true},
		},
		"ignored apps": {
			config.NotificationRoute{IgnoreApps: []string{"shop"}}, []bool{false, false, true, true},
		},
		"labels do not concern events of piped": {
			config.NotificationRoute{Labels: map[string]string{"env": "dev"}}, []bool{true, true, false, true},
		},
		"all labels have to match": {
			config.NotificationRoute{Labels: map[string]string{"env": "dev", "a": "b"}},
			[]bool{false, false, false, true},
		},
		"one ignored label is enough": {
			config.NotificationRoute{IgnoreLabels: map[string]string{"env": "dev", "a": "b"}},
			[]bool{false, false, true, true},
		},
		"an ignored label without value is no wild card": {
			config.NotificationRoute{IgnoreLabels: map[string]string{"a": ""}}, []bool{true, true, true, true},
		},
	} {
		r, err := newRoute(c.route, &receiver{})
		require.NoError(t, err)
		for i, e := range all {
			require.Equal(t, c.want[i], r.matches(&e), "%s: %s of %q", name, e.Type, e.ApplicationName())
		}
	}
}

func TestEveryTypeOfEventCanBeSent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := everything(hook(s), config.NotificationReceiver{Name: "chat", Slack: &config.SlackTarget{HookURL: s.URL}})
	c.Routes = append(c.Routes, c.Routes...) // a receiver of two routes gets an event once
	n := start(t, c)
	for name, kind := range observe.Types() {
		e := failed()
		e.Type = kind
		switch kind.Group() {
		case observe.Piped:
			e = observe.Event{Type: kind, Piped: &observe.Identity{Name: "p"}}
		case observe.ApplicationSync, observe.ApplicationHealth:
			e = observe.Event{
				Type: kind, Application: &model.Application{Name: "shop"}, SyncState: &model.ApplicationSyncState{},
			}
		case observe.Stages:
			e.Stage = &model.PipelineStage{Name: "WAIT"}
		}
		v := newView(&e, links{func() string { return "" }}, mentions{}, plain)
		require.NotEqual(t, name, v.Title, "an event without a sentence")
		require.Empty(t, v.Link)
		n.Notify(e)
		receive(t, s)
		receive(t, s)
	}
	n.stop()
	require.Empty(t, s.got)
	for _, stats := range n.Stats() {
		require.Equal(t, int64(len(observe.Types())), stats.Sent)
	}
}

func TestWithoutReceiversNothingIsSaid(t *testing.T) {
	t.Parallel()
	n := start(t, config.Notifications{})
	n.Notify(failed())
	n.stop()
	require.Empty(t, n.logs.String())
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "-1": 0, "nonsense": 0, "Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second,
		"Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		require.Equal(t, want, retryAfter(text, now), text)
	}
}
