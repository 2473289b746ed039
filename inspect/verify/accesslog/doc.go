// Package accesslog reads the access logs of web servers, which have a line per request.
//
//	combined    Apache's and nginx's combined format; vcombined begins with
//	            Apache's %v:%p. Whole seconds, no duration and, except in
//	            vcombined, no host.
//	nginx-msec  log_format weft '$msec $request_time $host "$request" $status "$http_user_agent"';
//	nginx-tabs  The same with the server's address, and tabs between the fields:
//	            log_format weft '$msec\t$remote_addr\t$server_addr\t$scheme\t$host\t$status\t$request_time\t'
//	              '$body_bytes_sent\t$request_method\t$request_uri\t$http_user_agent';
//	            More fields may follow.
//	json        One object per line, of numbers or strings:
//	            log_format weft escape=json '{"msec":"$msec","request_time":"$request_time","host":"$host",'
//	              '"method":"$request_method","uri":"$request_uri","status":"$status","user_agent":"$http_user_agent"}';
//	            time (RFC 3339 or seconds since 1970, when the request was read)
//	            may replace msec (when it was logged, at its end), and
//	            request_time may be missing. server_addr may be there.
//	caddy       Caddy's own JSON.
//	weft        The log of package webserver: start and end in nanoseconds,
//	            host, status, path and agent.
//
// The time in combined is the end of a request with nginx and its start with Apache. Two times of one
// server are compared: between two starts, and between two ends, is at least the delay between the
// end of one request and the start of the next.
package accesslog
