// Package accesslog reads the access logs of web servers, one line a request.
//
//	combined    Apache's and nginx's combined format; vcombined begins with
//	            Apache's %v:%p. Whole seconds, no duration and, but for
//	            vcombined, no host.
//	nginx-msec  log_format weft '$msec $request_time $host "$request" $status "$http_user_agent"';
//	json        One object a line, of numbers or strings:
//	            log_format weft escape=json '{"msec":"$msec","request_time":"$request_time","host":"$host",'
//	              '"method":"$request_method","uri":"$request_uri","status":"$status","user_agent":"$http_user_agent"}';
//	            time (RFC 3339 or seconds since 1970, when the request was read)
//	            may stand for msec (when it was logged, at its end), and
//	            request_time may be missing.
//	caddy       Caddy's own JSON.
//	weft        What package webtest writes: start and end in nanoseconds,
//	            host, status, path and agent.
//
// The stamp of combined is the end of a request with nginx and its start with
// Apache. One from the same server is compared with another: between two starts,
// and between two ends, lies at least the delay between the end of one and the
// start of the next.
package accesslog
